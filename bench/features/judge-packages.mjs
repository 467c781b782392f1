// Rows that a look at the package answers, and rows for which only some systems have anything to run.
import { dependencies, hasTypes, search } from './packages.mjs'
import { na, no, notRun, partly, yes } from './verdicts.mjs'

const code = /\.[cm]?js$/
const readme = /readme\.md$/i

/**
 * A feature that ours or another has shown in a life of its own; of the others it is looked for by
 * its words. A word that is found is no feature: then it says that it was not run.
 */
const shownOr = (row, words, where) => (found, system) => {
  const own = found.own?.[row]
  if (own) return own
  // Ours is never judged by its words.
  if (system.file === 'quiesce') return notRun('')
  if (system.job === 'core') return no('Node has nothing of the kind')
  const { found: place, files } = search(system, words, where)
  if (files === 0) return notRun('its package has no such files')
  return place ? notRun(`its files have a word for it: ${place}`) : no(`none of its ${files} files has ${words}`)
}

/** @type {Record<number, (found: any, system: any) => { verdict: string, evidence: string }>} */
export const JUDGES_OF_PACKAGES = {
  7: shownOr(7, /delegat(?:e|ion)/i, /\.d\.[cm]?ts$|readme/i),
  60: (_, system) => {
    if (system.job === 'core') return na('it is Node')
    const { found, files } = search(system, /\b_httpMessage\b|\._handle\b|\._connections\b/, code)
    return found ? no(found) : yes(`none of its ${files} files of code has a private field of Node`)
  },
  68: ({ drain }, system) => {
    const { found } = system.job === 'core' ? {} : search(system, /exit (?:codes?|status)/i, readme)
    const evidence = `an end in order: ${drain.end.text.replace(/ after.*/, '')}`
    return found
      ? system.file === 'quiesce'
        ? yes(`${evidence}; README: Exit codes`)
        : partly(`${evidence}; ${found}`)
      : no(`${evidence}; its README says nothing of exit codes`)
  },
  70: (found, system) => {
    if (found.own?.[70]) return found.own[70]
    if (system.file === 'quiesce') return notRun('')
    if (system.job === 'core') return yes('it does not end the process')
    const { found: place } = search(system, /process\.exit\(/, code)
    return place ? no(place) : yes('none of its files calls process.exit()')
  },
  72: (found, system) =>
    found.order.signals.length > 5
      ? yes(`${found.order.signals.length} named events of one life`)
      : shownOr(72, /on\w*Phase|lifecycle[ -]?event|emit\(['"]/i)(found, system),
  73: ({ work }, system) =>
    work.logged > 0 ? yes(`a logger of the program has got ${work.logged} lines`) : shownOr(73, /\blogger\b/i, /\.d\.[cm]?ts$/)({}, system),
  74: shownOr(74, /prometheus|\bmetrics?\b/i, /\.d\.[cm]?ts$|readme/i),
  75: shownOr(75, /opentelemetry|\bspans?\b|tracer/i, /\.d\.[cm]?ts$|readme/i),
  76: shownOr(76, /diagnostics_channel/),
  77: shownOr(77, /\b(?:diagram|visuali[sz]|inspector)/i, /\.d\.[cm]?ts$|readme/i),
  78: shownOr(78, /model[ -]check|reachab|state machine/i, /\.d\.[cm]?ts$|readme/i),
  79: shownOr(79, /fake|virtual clock|TestClock|inject\(|terminate\?/i, /\.d\.[cm]?ts$/),
  80: shownOr(80, /\bservers\b/i, /\.d\.[cm]?ts$|readme/i),
  81: shownOr(81, /node:cluster|require\(['"]cluster['"]\)|from ['"]cluster['"]/, code),
  82: shownOr(82, /LISTEN_FDS|hot restart|\bSCM_RIGHTS\b/i),
  83: shownOr(83, /setSecureContext|certificate reload/i, code),
  84: ({ systemd: { said } }) => (said.READY ? yes('READY=1 arrives on NOTIFY_SOCKET') : no('nothing arrives on NOTIFY_SOCKET')),
  85: ({ systemd: { said } }) => {
    const names = ['STOPPING', 'EXTEND_TIMEOUT_USEC', 'WATCHDOG', 'RELOADING']
    const sent = names.filter((name) => said[name])
    const missing = names.filter((name) => !said[name])
    if (missing.length === 0) return yes(sent.join(', '))
    if (sent.length) return partly(`${sent.join(', ')} arrive, ${missing.join(', ')} does not`)
    return no(Object.keys(said).length ? `only ${Object.keys(said).join(', ')} arrives` : 'nothing arrives on NOTIFY_SOCKET')
  },
  86: shownOr(86, /terminationGracePeriod(?:Seconds)?/),
  87: shownOr(87, /preStop/, code),
  88: ({ misuse: { error, what = "a duration of 'soon'" } }) => (error ? yes(`${what}: ${error.slice(0, 120)}`) : no(`${what} is taken`)),
  89: (_, system) =>
    system.job === 'core'
      ? partly('types are in @types/node')
      : hasTypes(system)
        ? yes('its package has types')
        : no('its package has no types'),
  90: ({ misuse }) => (misuse.isDisposable ? yes('has Symbol.asyncDispose') : no('has no Symbol.asyncDispose')),
  91: (_, system) => {
    const count = system.beside ?? (system.job === 'core' ? 0 : dependencies(system))
    const evidence = `${count} packages beside it`
    return count <= 2 ? yes(evidence) : count <= 6 ? partly(evidence) : no(evidence)
  },
  92: ({ health: { leak } }, system) => {
    if (!system.checks) return na('it has no checks')
    const text = `${leak.a} ${leak.b}`
    if (/secretA/.test(leak.b ?? '')) return no('what one check says is told by another')
    return /secretA/.test(text)
      ? partly('what a check gives is in its answer, where the program means it to be')
      : yes('what a check says or throws is in no answer')
  },
}
