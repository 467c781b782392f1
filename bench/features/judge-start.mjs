// What the observations of the lives mean, rows 1 to 42: start, health, what stops a server, delay, hooks.
import { isRefusal, na, no, notRun, partly, seconds, yes } from './verdicts.mjs'

const startless = (system) => (system.job === 'stop' ? na('it only ends a server') : no('it takes no function for the start of a server'))
const healthless = (system) => (system.job === 'stop' ? no('it answers no health path') : no('it answers no health path by itself'))
const both = (health) => health.map(({ live, ready }) => `${live}/${ready}`).join(', ')
const withoutHook = (system) => (system.job ? na('it takes no hook') : no('it takes no hook'))

/** At the same time, and not only earlier by chance. */
const isBesideFirst = (at) => at['beside begins'] < at['first ends'] && at['first begins'] < at['beside ends']

/** @type {Record<number, (found: any, system: any) => { verdict: string, evidence: string }>} */
export const JUDGES_OF_START = {
  1: ({ start: { order } }, system) => {
    if (!system.hooks.start) return startless(system)
    const isOrdered = order.indexOf('two begins') > order.indexOf('one ends')
    return isOrdered ? yes(order.join(', ')) : no(`both start at once: ${order.join(', ')}`)
  },
  2: ({ failingStart }, system) => {
    if (!system.hooks.start) return startless(system)
    const { never } = failingStart
    return never.end.hung ? no(`a start hook that never ends: ${never.end.text}`) : yes(`a start hook that never ends: ${never.end.text}`)
  },
  3: ({ failingStart }, system) => {
    if (!system.hooks.start) return startless(system)
    const { failed } = failingStart
    const undone = failed.events.filter((event) => /^undo/.test(event))
    if (undone.join() === 'undo one') return yes('the second hook fails: what the first one had made is undone, and nothing else')
    if (failed.events.includes('clean ends')) return partly('the second hook fails: the cleanup of the whole program runs')
    return no(`the second hook fails: ${failed.end.text}, nothing is undone`)
  },
  4: ({ start }, system) => {
    if (!system.hooks.start) return startless(system)
    if (!system.health)
      return start.listenedBeforeHooks
        ? no('it listens before the hooks have ended')
        : no('it has no readiness; it listens after the hooks')
    if (!start.listenedBeforeHooks) return partly('nothing listens until the hooks have ended: probes are refused')
    return start.early !== '200' && start.ready === '200'
      ? yes(`readiness: ${start.early} while the hooks run, then ${start.ready}`)
      : no(`readiness: ${start.early} while the hooks run, then ${start.ready}`)
  },
  5: ({ start }, system) =>
    start.hasBeenReady ? yes('the event came after the hooks of the start') : system.hooks.start ? no('no such event') : startless(system),
  6: ({ start, own }, system) => {
    if (own?.[6]) return own[6]
    if (start.missing === '503') return yes('an unknown path: 503')
    return system.hooks.start && start.listenedBeforeHooks
      ? no(`an unknown path while the start goes on: ${start.missing}`)
      : system.job === 'stop'
        ? na('it only ends a server')
        : no(`an unknown path: ${start.missing}`)
  },
  8: ({ start }, system) => {
    if (start.timeline) return yes(`it prints ${start.timeline.split('\\n').length} lines of its start`)
    const times = start.report?.signals?.filter(({ at }) => at < 0) ?? []
    if (times.length > 2) return yes(`the report has ${times.length} steps of the start, with their times`)
    return system.job === 'stop' ? startless(system) : no('it prints nothing of its start')
  },
  9: ({ failingStart }, system) => {
    if (!system.hooks.start) return startless(system)
    const { stopped } = failingStart
    if (stopped.end.hung) return no(`SIGTERM during a start hook: ${stopped.end.text}`)
    return stopped.events.some((event) => event === 'clean ends' || event.startsWith('undo'))
      ? yes(`SIGTERM during a start hook: ${stopped.end.text}, and the cleanup has run`)
      : no(`SIGTERM during a start hook: ${stopped.end.text}, and no cleanup has run`)
  },
  10: ({ drain: { before } }, system) => {
    if (before.live !== '200') return healthless(system)
    return system.health === 'by hand'
      ? partly('its checks answer in a controller that the program writes')
      : yes('liveness and readiness answer 200')
  },
  11: ({ delay }, system) => {
    if (!system.health) return healthless(system)
    const { ready } = delay.health[0] ?? {}
    return isRefusal(ready) ? yes(`readiness ${ready} 0.2 s after SIGTERM`) : no(`readiness ${ready} 0.2 s after SIGTERM`)
  },
  12: ({ delay }, system) => {
    if (!system.health) return healthless(system)
    return delay.health.every(({ live }) => live === '200')
      ? yes(`live/ready during the delay: ${both(delay.health)}`)
      : no(`live/ready during the delay: ${both(delay.health)}`)
  },
  13: ({ drain: { health, end }, late }, system) => {
    if (!system.health) return healthless(system)
    const answered = health.filter(({ live }) => /^\d+$/.test(live ?? ''))
    const last = answered.at(-1)?.at
    if (last !== undefined && last > end.afterMs - 1200) return yes(`answered until ${seconds(last)}, exit after ${seconds(end.afterMs)}`)
    if (last === undefined && isRefusal(late?.fresh?.what) && late.live === '200')
      return partly(`refused as soon as the drain begins; where late requests get ${late.fresh.what}, liveness gets ${late.live}`)
    return last === undefined
      ? no('refused as soon as the drain begins')
      : partly(`answered until ${seconds(last)}, exit after ${seconds(end.afterMs)}`)
  },
  14: ({ drain: { healthPort } }, system) =>
    system.health
      ? healthPort
        ? yes('health has a port of its own')
        : no('health is on the port of the application')
      : healthless(system),
  15: ({ start }, system) => {
    if (!system.health || !system.hooks.start) return system.hooks.start ? healthless(system) : startless(system)
    return isRefusal(start.earlyLive) && start.ready === '200'
      ? partly(`liveness is ${start.earlyLive} while start hooks run; there is no probe that is about the start only`)
      : no(`liveness is ${start.earlyLive} while start hooks run`)
  },
  16: ({ drain: { before } }, system) => {
    if (!system.health) return healthless(system)
    const { body = '', excluded = '' } = before.verbose ?? {}
    if (/ping/.test(body) && /excluded/.test(excluded)) return yes('?verbose names each check, ?exclude leaves one out')
    return /details|info|components/.test(body)
      ? partly('the answer names each check; who asks can leave none out')
      : no('the answer names no checks')
  },
  17: ({ health: { never } }, system) => {
    if (!system.health) return na('it has no checks')
    if (!system.checks) return na('it has no checks')
    return isRefusal(never) ? yes(`a check that never ends: ${never}`) : no(`a check that never ends: ${never} for 4 s`)
  },
  18: ({ health: { leak } }, system) => {
    if (!system.checks) return na('it has no checks')
    return /secretA/.test(leak.b ?? '')
      ? no(`what one check says is in the answer of another: ${leak.b}`)
      : yes('what one check says is not in the answer of another')
  },
  19: ({ health: { byHand } }, system) => {
    if (!byHand) return system.health ? no('readiness cannot be switched by hand') : healthless(system)
    return isRefusal(byHand.red) && byHand.served === '200' && byHand.back === '200'
      ? yes(`readiness by hand: ${byHand.red} while requests get ${byHand.served}, then ${byHand.back}`)
      : no(`readiness by hand: ${JSON.stringify(byHand)}`)
  },
  20: ({ triggers }, system) => {
    if (!system.signals) return no('the program has to listen for signals')
    const [term, int] = ['SIGTERM', 'SIGINT'].map((name) => triggers[name].answered)
    const evidence = `the request under way is ${term ? 'answered' : 'lost'} at SIGTERM, ${int ? 'answered' : 'lost'} at SIGINT`
    return term && int ? yes(evidence) : term ? partly(evidence) : no(evidence)
  },
  21: ({ triggers: { program } }, system) => {
    if (program.none)
      return system.job === 'core' ? partly('server.close() takes no reason') : no('there is no function that stops it as a signal does')
    if (!program.answered || program.end.hung) return no(`called by the program: ${program.end.text}`)
    return /a reason of mine/.test(program.given ?? '')
      ? yes(`each hook is given ${program.given}`)
      : partly(`the server stops, and gives each hook ${program.given ?? 'no reason'}`)
  },
  22: ({ triggers: { exception, rejection } }) => {
    const graceful = [exception, rejection].filter(({ answered, end }) => answered && !end.hung && end.code !== 0)
    const evidence = `uncaught exception: request ${exception.answered ? 'answered' : 'lost'}, ${exception.end.text}; rejection: request ${rejection.answered ? 'answered' : 'lost'}, ${rejection.end.text}`
    return graceful.length === 2 ? yes(evidence) : graceful.length ? partly(evidence) : no(evidence)
  },
  23: ({ triggers: { message } }) =>
    message.end.hung
      ? no('it goes on')
      : message.answered
        ? yes(`request answered, ${message.end.text}`)
        : no(`request lost, ${message.end.text}`),
  24: () => notRun('these probes run on Linux'),
  25: ({ triggers: { AbortSignal: outcome } }) => {
    if (outcome.none) return no('it takes no AbortSignal')
    return outcome.end.hung
      ? no(`aborted: ${outcome.end.text}`)
      : outcome.answered
        ? yes(`aborted: request answered, ${outcome.end.text}`)
        : partly(`aborted: request lost, ${outcome.end.text}`)
  },
  26: ({ triggers: { parent } }) =>
    parent.end.hung
      ? no('standard input ends and the channel to the parent closes: it goes on')
      : yes(`standard input ends and the channel to the parent closes: ${parent.end.text}`),
  27: ({ triggers: { uninstalled } }, system) => {
    if (!system.signals) return na('it listens for no signals')
    if (uninstalled.none) return no('its signal listeners cannot be taken back')
    return uninstalled.end.signal === 'SIGTERM' && uninstalled.end.afterMs < 1000
      ? yes(`after it, SIGTERM ends the process as without it: ${uninstalled.end.text}`)
      : no(`after it: ${uninstalled.end.text}`)
  },
  28: ({ delay }, system) => {
    const isServed = delay.statuses.join() === '200' && delay.fresh.slice(0, 3).every((what) => what === '200')
    if (!system.delay) return no('there is no delay: the program has to wait itself before it ends the server')
    const evidence = `${delay.answers} requests in a delay of 2 s: ${delay.statuses.join(', ')}; new connections: ${delay.fresh.join(', ')}`
    if (!isServed) return no(evidence)
    return system.delay === 'option' ? yes(evidence) : partly(`${evidence}; the wait is in a hook`)
  },
  29: ({ delayAndHook }, system) => {
    if (!system.hooks.before) return withoutHook(system)
    if (!system.delay) return na('there is no delay')
    const evidence = `a delay and a hook of 2 s each: ${delayAndHook?.end.text}`
    return delayAndHook.end.afterMs < 3800 && delayAndHook.end.afterMs >= 1900 ? yes(evidence) : no(evidence)
  },
  30: (_, system) => (system.delay ? no('nothing ends the delay early and goes on in order') : na('there is no delay')),
  31: ({ platform: { ofOutside, ofInside } }, system) => {
    if (system.delay !== 'option') return na('there is no delay of its own')
    const evidence = `as on Kubernetes: ${ofInside.text}; elsewhere: ${ofOutside.text}`
    return ofInside.afterMs - ofOutside.afterMs > 2500 ? yes(evidence) : no(evidence)
  },
  32: ({ delay }, system) => {
    if (delay.told.length > 15) return yes(`during the delay the server told ${delay.told.length} of 20 clients to leave`)
    return delay.told.length
      ? partly(`the server told ${delay.told.length} of 20 clients to leave`)
      : system.delay
        ? no('during the delay the server told none of 20 clients to leave')
        : no('the server told none of 20 clients to leave before it closed')
  },
  33: ({ order: { at } }, system) => {
    if (!system.hooks.cleanup) return withoutHook(system)
    if (system.hooks.cleanup === 'one') return no('one function for each point')
    return ['one', 'two', 'three'].every((name) => at[`${name} ends`] !== undefined)
      ? yes('three cleanup hooks have run')
      : no('not all of three cleanup hooks have run')
  },
  34: ({ faults }, system) =>
    system.hooks.cleanup
      ? faults.names
        ? yes('a hook that never ends is named in what it says')
        : no('a hook that never ends is not named')
      : withoutHook(system),
  35: ({ order: { at } }, system) => {
    if (!system.hooks.cleanup) return withoutHook(system)
    if (isBesideFirst(at) && at['second begins'] >= at['first ends']) return yes('one hook waits for another, one for none')
    return system.ordering ? partly(system.ordering) : no('no hook can name another that it waits for')
  },
  36: ({ faults }, system) => {
    if (!system.hooks.before && !system.hooks.cleanup) return withoutHook(system)
    return faults.limitedAt > 400
      ? yes(`a hook that never ends: the next one runs after ${seconds(faults.limitedAt)}`)
      : no('a hook that never ends: the next one never runs')
  },
  37: ({ faults: { ofHung }, stuck }, system) => {
    const evidence = system.hooks.cleanup
      ? `a hook that never ends, with 4 s for all: ${ofHung.text}`
      : `a stalled request: ${stuck.ofStalled.text}`
    if (!system.hooks.cleanup) return stuck.ofStalled.hung ? no(evidence) : partly(`${evidence}; it takes no hook`)
    return ofHung.hung || ofHung.code === 13 ? no(evidence) : yes(evidence)
  },
  38: ({ faults }, system) =>
    system.hooks.cleanup
      ? faults.secondRan
        ? yes('the hook after one that throws has run')
        : no('the hook after one that throws has not run')
      : withoutHook(system),
  39: ({ faults: { ofThrown }, order }, system) => {
    if (!system.hooks.cleanup) return withoutHook(system)
    const evidence = `a hook throws: ${ofThrown.text}; without: ${order.end.text}`
    return ofThrown.hung || (ofThrown.code === order.end.code && ofThrown.signal === order.end.signal) ? no(evidence) : yes(evidence)
  },
  40: ({ order: { called } }, system) =>
    system.hooks.before
      ? called === 200
        ? yes('a hook calls the server: 200')
        : no(`a hook calls the server: ${called}`)
      : withoutHook(system),
  41: ({ order: { at } }, system) => {
    if (!system.hooks.cleanup) return withoutHook(system)
    const [before, after] = [at['first begins'] < at['slow ends'], at['one begins'] >= at['slow ends']]
    const evidence = `${before ? 'a hook runs while a request is under way' : 'no hook before'}; ${after ? 'cleanup comes after it' : `cleanup begins ${seconds(at['slow ends'] - at['one begins'])} before it is answered`}`
    return before && after ? yes(evidence) : before || after ? partly(evidence) : no(evidence)
  },
  42: ({ order: { at } }, system) => {
    if (!system.hooks.cleanup) return withoutHook(system)
    const isBeside = isBesideFirst(at)
    const isInOrder = at['second begins'] >= at['first ends']
    if (isBeside && isInOrder) return yes('some run one after the other, some beside these')
    const cleanup = at['two begins'] < at['one ends'] ? 'all at once' : 'one after the other'
    return no(`hooks run ${cleanup}`)
  },
}
