import type { HookKind } from '../../events.ts'
import type { PlannedHook } from '../../machines/pre-shutdown-hooks.ts'
import { stateKey } from '../../machines/region.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { factOf, signalOf } from './facts.ts'
import type { Edge } from './graph.ts'
import { broken, type Monitor } from './monitor.ts'
import { has, withName } from './names.ts'
import type { ActorView } from './view.ts'

/**
 * Whose answer means that the work of a phase is done, by the name of the work; a path below the phase's own actor. In the words of L 1.4:
 * E2, E7, E9, E16, E18, E20. Hooks and destroy functions have properties of their own.
 */
const ANSWERS: Readonly<Record<string, string>> = {
  auditRun: '',
  bind: '',
  announce: '',
  tell: '/complete-telling',
  shutdownDelay: '',
  requestDrain: '/drain-requests',
  watchDrain: '/drain-watches',
  closeListener: '',
  closeConnections: '/linger-connections',
  handlers: '/wait-for-handlers',
  auditShutdown: '',
  closeAdmin: '',
  report: '/write-report',
  userPhase: '/run-hook',
}

/** A phase with work succeeds in the step in which its work answers, or its own delay is over, and only then. */
export function succeedsByItsWork(wiring: Wiring): (before: ActorView, after: ActorView, step: Edge) => true | string {
  const phaseOf = new Map(Object.entries(wiring).map(([phase, { fires }]) => [fires, phase]))
  return (_before, _after, { choice, effects }) => {
    const isFailure = choice.event.type.startsWith('xstate.error.')
    for (const effect of effects) {
      const fact = factOf(effect)
      const phase = fact?.type === 'signal' ? phaseOf.get(fact.name) : undefined
      const below = ANSWERS[wiring[phase ?? '']?.work ?? '']
      if (fact?.type !== 'signal' || phase === undefined || below === undefined) continue
      const isItsAnswer = choice.kind !== 'event' && choice.path.text === `${stateKey(phase)}${below}`
      if (fact.outcome === 'ok' && (!isItsAnswer || isFailure)) return `${fact.name} is ok by "${choice.label}"`
      if (fact.outcome !== 'ok' && isItsAnswer && !isFailure && choice.kind === 'outcome')
        return `${fact.name} is ${fact.outcome} by "${choice.label}"`
    }
    return true
  }
}

/** What a machine does when it is cut, by the name of its work; the step in which that answers is the one in which the phase ends. */
const CUT_ANSWERS: Readonly<Record<string, string>> = {
  tell: '/complete-telling-now',
  requestDrain: '/cut-requests',
  watchDrain: '/terminate-watches-now',
  closeConnections: '/destroy-connections-now',
  handlers: '/name-handlers',
  destroy: '/start-rest',
  report: '/write-report-now',
}
/** What ends a phase by a limit of its own. */
const LIMIT_ANSWERS: Readonly<Record<string, string>> = { watchDrain: '/terminate-watches', closeConnections: '/destroy-connections' }

/** A phase that is cut does what it has to do then: it ends when that answers, or at the next instant if it does not. */
export function cutsByItsWork(wiring: Wiring): (before: ActorView, after: ActorView, step: Edge) => true | string {
  const phaseOf = new Map(Object.entries(wiring).map(([phase, { fires }]) => [fires, phase]))
  return (before, _after, { choice, effects }) => {
    for (const effect of effects) {
      const fact = factOf(effect)
      const phase = fact?.type === 'signal' && fact.outcome === 'cut' ? phaseOf.get(fact.name) : undefined
      const work = wiring[phase ?? '']?.work ?? ''
      if (phase === undefined || CUT_ANSWERS[work] === undefined) continue
      const answers = [CUT_ANSWERS[work], LIMIT_ANSWERS[work]].flatMap((below) =>
        below === undefined ? [] : [`${stateKey(phase)}${below}`],
      )
      if (!answers.includes(choice.path.text) && before.actor(phase)?.value !== 'cutting')
        return `${phase} is cut without its ${answers[0]}`
    }
    return true
  }
}

/** No phase with work succeeds without having begun. */
export function begunBefore(wiring: Wiring, idle: readonly string[]): Monitor {
  const phaseOf = new Map(Object.entries(wiring).map(([phase, { fires }]) => [fires, phase]))
  return {
    initial: '',
    next: (begun, effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'phase.started') return withName(begun, fact.phase)
      const phase = fact?.type === 'signal' && fact.outcome === 'ok' ? phaseOf.get(fact.name) : undefined
      const isIdle = phase === undefined || wiring[phase]?.work === undefined || idle.includes(phase)
      return isIdle || has(begun, phase) ? begun : broken(`${phase} succeeds without having begun`)
    },
  }
}

/** From a signal on, no child of the root with this kind of id runs. */
export const endsWith =
  (signal: string | undefined, prefix: string) =>
  (_before: ActorView, after: ActorView, { effects }: Edge): true | string => {
    if (signal === undefined || !effects.some((effect) => signalOf(effect) === signal)) return true
    const left = after.children.find(({ id }) => id.startsWith(prefix))
    return left === undefined || `${left.id} goes on after ${signal}`
  }

/** A phase of hooks has failed when a hook of its kind has. */
export const failsByItsHooks = (phase: string, kind: HookKind): Monitor => ({
  initial: '',
  next: (failed, effect) => {
    const fact = factOf(effect)
    if (fact?.type === 'hook.ended' && fact.kind === kind && fact.outcome === 'failed') return 'failed'
    if (fact?.type !== 'phase.ended' || fact.phase !== phase || (fact.outcome === 'failed') === (failed !== '')) return failed
    return broken(`${phase} is ${fact.outcome}, though ${failed === '' ? 'no' : 'a'} hook has failed`)
  },
})

/** Each hook starts after those that it follows have ended, and PreShutdownHooksStopped fires after all of them, unless they are cut or skipped. */
export function hooksInOrder(hooks: readonly PlannedHook[]): Monitor {
  const byName = new Map(hooks.map((hook) => [hook.name, hook]))
  return {
    initial: '',
    next: (ended, effect) => {
      const fact = factOf(effect)
      if (fact?.type === 'hook.started' && fact.kind === 'pre-shutdown') {
        const missing = byName.get(fact.name)?.after.find((other) => !has(ended, other))
        return missing === undefined ? ended : broken(`${fact.name} starts before ${missing} has ended`)
      }
      if (fact?.type === 'hook.ended' && fact.kind === 'pre-shutdown') return withName(ended, fact.name)
      if (fact?.type === 'signal' && fact.name === 'PreShutdownHooksStopped' && fact.outcome !== 'skipped') {
        const left = hooks.find(({ name }) => !has(ended, name))
        if (left) return broken(`PreShutdownHooksStopped before ${left.name} has ended`)
      }
      return ended
    },
  }
}
