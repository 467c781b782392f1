import type { LifecycleEvent } from '#src/base/events.ts'
import { type ExitCode, moreSevere } from '#src/machines/exit-codes.ts'
import { effectiveWiring } from '#src/machines/lifecycle.ts'
import { planOf } from '#src/model/life/lifecycle-model.ts'
import { DEADLINE_MS, type Driver, type Sent } from './driver.ts'

/**
 * What has to hold for every life that has ended, whatever was done to it. Each returns what is
 * wrong, in words.
 */
const INVARIANTS: Readonly<Record<string, (driver: Driver) => readonly string[]>> = {
  'every state and step is one of the checker': ({ shadow }) => (shadow.difference === undefined ? [] : [shadow.difference]),

  'it ends by the deadline': ({ test }) => {
    const stop = signalAt(test.events, 'StopRequested')
    const end = test.events.find(({ type }) => type === 'ended')?.at
    if (stop === undefined || end === undefined) return [`stop requested at ${stop}, ended at ${end}`]
    return end - stop <= DEADLINE_MS ? [] : [`took ${end - stop} ms of ${DEADLINE_MS}`]
  },

  'signals fire once, after all that they wait for': ({ test }) => {
    const fired = test.signals
    const twice = fired.filter((name, index) => fired.indexOf(name) !== index).map((name) => `${name} twice`)
    const early = Object.values(effectiveWiring(planOf(test.life))).flatMap(({ after, fires }) => {
      const at = fired.indexOf(fires)
      if (at < 0) return []
      const missing = after.filter((signal) => isRecorded(signal) && !fired.slice(0, at).includes(signal))
      return missing.map((signal) => `${fires} before ${signal}`)
    })
    return [...twice, ...early]
  },

  'every cut comes in its order': ({ test }) => {
    const cuts = test.signals.filter((name) => name.startsWith('Cut.'))
    const expected = ['Cut.hooks', 'Cut.requests', 'Cut.connections', 'Cut.audit', 'Cut.destroy', 'Cut.flush'].slice(0, cuts.length)
    return cuts.join() === expected.join() ? [] : [cuts.join()]
  },

  'the exit code says the worst that happened, and the same everywhere': (driver) => {
    const { test } = driver
    const expected = exitCodeOf(driver)
    const ended = test.events.flatMap((event) => (event.type === 'ended' ? [event.exitCode] : []))
    const all = [test.report?.exitCode, test.process.exitCode, ...ended]
    return all.length === 3 && all.every((code) => code === expected)
      ? []
      : [`expected ${expected}, got report, process, event: ${all.join()}`]
  },

  'what was accepted and answered reaches its client': ({ sent }) =>
    sent.filter((one) => one.answered && isMissed(one) && !waitsBehind(one, sent)).map((one) => `lost: ${describe(one)}`),

  'without a cut, nothing that was accepted stays unanswered': (driver) =>
    driver.sent.filter((one) => one.accepted && isMissed(one) && !wasCut(one, driver)).map((one) => `unanswered: ${describe(one)}`),

  'what was accepted and got no byte of an answer costs an exit code': ({ sent, test: { report } }) =>
    sent
      .filter((one) => report?.exitCode === 0 && one.accepted && one.request.received === undefined && isMissed(one))
      .map((one) => `lost for nothing: ${describe(one)}`),

  'without a cut, a request to a client that was never told is answered, if only with a refusal': (driver) =>
    driver.sent
      .filter((one) => !one.isHalf && !one.connection.wasNotified && isMissed(one) && !wasCut(one, driver))
      .map((one) => `dropped: ${describe(one)}`),

  // Node's own keep-alive timeout runs on when half of a later request has come: that connection is
  // over before the stop.
  'half a request that a stop gives up is counted with the connections that ended': ({ sent, closedWhileServing, test: { report } }) => {
    const half = sent.filter((one) => one.isHalf && isMissed(one) && !one.connection.wasNotified && !closedWhileServing.has(one.connection))
    const { forced = 0, ended = 0, idleUnnotified = 0 } = report?.connections ?? {}
    return half.length <= forced + ended + idleUnnotified
      ? []
      : [`${half.length} half-sent, ${forced} forced, ${ended} ended, ${idleUnnotified} idle: ${half.map(describe).join('; ')}`]
  },

  'what is let in after NotAcceptingNewRequest is a last call: its client is told, and in the mode retry-after there is none': ({
    sent,
    mode,
  }) =>
    sent
      .filter(
        (one) =>
          one.wasLetInLate && (mode === 'retry-after' || (isWhole(one) && !one.connection.wasNotified && !isAheadOfAnother(one, sent))),
      )
      .map((one) => `let in: ${describe(one)}`),

  'no connection and no listener is left': ({ connections, isListening }) => [
    ...connections.filter(({ isOpen }) => isOpen).map((connection) => `open: connection ${connections.indexOf(connection)}`),
    ...(isListening ? ['the listener is open'] : []),
  ],

  'the report and the events agree': ({ test: { report, events, signals } }) => {
    const reported = report?.signals.map(({ name }) => name) ?? []
    // The report is sealed before the last word.
    const said = signals.filter((name) => reported.includes(name))
    const drained = events.filter(({ type }) => type === 'drained').length
    return [...(said.join() === reported.join() ? [] : [`signals: ${reported.join()}`]), ...(drained <= 2 ? [] : [`${drained} drains`])]
  },
}

/** Everything that is wrong, or an empty text. */
export const wrongs = (driver: Driver): string =>
  Object.entries(INVARIANTS)
    .flatMap(([name, check]) => check(driver).map((wrong) => `${name}: ${wrong}`))
    .join('\n')

const isMissed = (one: Sent): boolean => one.connection.state !== 'left' && !isWhole(one)
const isWhole = ({ request }: Sent): boolean => request.received?.isComplete === true
/** Pipelined: its answer waits for an earlier one, which never came. */
const waitsBehind = (one: Sent, sent: readonly Sent[]): boolean =>
  sent.slice(0, sent.indexOf(one)).some((earlier) => earlier.connection === one.connection && !isWhole(earlier))
/**
 * Pipelined: the last answer of the connection tells its client, as the client drops what it waits
 * for behind an answer that tells it. When that last one is cut, no answer has told it.
 */
const isAheadOfAnother = (one: Sent, sent: readonly Sent[]): boolean =>
  sent.slice(sent.indexOf(one) + 1).some((later) => later.connection === one.connection && !isWhole(later))
const describe = ({ request, connection, accepted, answered }: Sent): string =>
  `${request.name}, accepted ${accepted}, answered ${answered}, received ${JSON.stringify(request.received)}, connection ${connection.state}, told ${connection.wasNotified}`

/** Not every name in the table is a signal that is said: some are events from outside. */
const isRecorded = (signal: string): boolean => signal !== 'readyz.passed' && !signal.startsWith('mux.')
const signalAt = (events: readonly LifecycleEvent[], name: string): number | undefined =>
  events.find((event) => event.type === 'signal' && event.name === name)?.at

/**
 * Whether a request was ended that had not come to its end, for a reason that the report names: the
 * deadline, its drain, or force.
 */
function wasCut(one: Sent, driver: Driver): boolean {
  const { events } = driver.test
  const requestsCut = events.some((event) => event.type === 'drained' && event.what === 'requests' && event.after > 0)
  return requestsCut || events.some(({ type }) => type === 'forced') || driver.wasCutWithWatches(one)
}

/** The rule of exit codes, written again from what happened: the most severe of everything. */
function exitCodeOf({ test: { events }, crashes }: Driver): ExitCode {
  const codes = events.map((event, index): ExitCode => {
    switch (event.type) {
      case 'forced':
        return event.why === 'deadline' ? 5 : event.why === 'internal-error' ? 70 : 1
      case 'phase.ended': {
        if (event.phase === 'handlers' && mayBeOver(events)) return 0
        if (event.outcome === 'failed') return isNeeded(event.phase) ? 3 : event.phase === 'announce' ? 0 : 4
        const limit = OWN_LIMITS[event.phase]
        const wasItsOwn =
          limit !== undefined && !events.slice(0, index).some((earlier) => earlier.type === 'signal' && earlier.name === limit)
        const isFree = wasItsOwn && event.error === undefined
        return event.outcome === 'cut' && !isFree && event.phase !== 'post-start-hooks' ? 5 : 0
      }
      case 'signal':
        return event.reason?.kind === 'listener-died' || event.reason?.kind === 'hook-failed' ? 4 : 0
      default:
        return 0
    }
  })
  return codes.reduce(moreSevere, crashes > 0 ? 1 : 0)
}

/**
 * Whether all handlers that were left had lost their clients and had returned no promise: they are
 * warned of, as nobody else is.
 */
function mayBeOver(events: readonly LifecycleEvent[]): boolean {
  const running = events.flatMap((event) => (event.type === 'handlers' ? event.running : []))
  const warnings = events.flatMap((event) => (event.type === 'warning' ? (event.details?.['handlers'] ?? []) : []))
  return running.length > 0 && warnings.at(-1) === running.length
}

/**
 * Without it nothing can be served. Post-start hooks may run as long as the server: cut, they are
 * as they should be.
 */
const isNeeded = (phase: string): boolean => phase === 'audit-run' || phase === 'bind'
/** Phases with a limit of the user's, which costs nothing, and the cut that does. */
const OWN_LIMITS: Readonly<Record<string, string>> = { 'watch-drain': 'Cut.requests', 'close-connections': 'Cut.connections' }
