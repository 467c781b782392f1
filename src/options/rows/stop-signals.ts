import { didYouMean } from '../../base/did-you-mean.ts'
import { isFieldsOnly } from '../../base/records.ts'

/**
 * Which OS signals end a life: the usual ones unless an option says otherwise. SIGHUP: the terminal
 * is gone, or a supervisor asks. SIGBREAK: Ctrl-Break and the closing of the console on Windows.
 */

/** Signals that may ask for the end of a process. */
export const STOP_SIGNALS = [
  'SIGTERM',
  'SIGINT',
  'SIGHUP',
  'SIGBREAK',
  'SIGQUIT',
  'SIGUSR2',
  'SIGALRM',
  'SIGPWR',
  'SIGWINCH',
  'SIGXCPU',
] as const satisfies readonly NodeJS.Signals[]
export type StopSignal = (typeof STOP_SIGNALS)[number]

/** The signals themselves, or what is different from the default. */
export type SignalsOption =
  | readonly StopSignal[]
  | { readonly add?: readonly StopSignal[] | undefined; readonly skip?: readonly StopSignal[] | undefined }

const USUAL: readonly StopSignal[] = ['SIGTERM', 'SIGINT', 'SIGHUP']
const ON_WINDOWS: readonly StopSignal[] = ['SIGBREAK']

export const stopSignalsDefault = (os: NodeJS.Platform): readonly StopSignal[] => (os === 'win32' ? [...USUAL, ...ON_WINDOWS] : USUAL)

export const SIGNALS_DEFAULT = `${USUAL.join(', ').replace(/, (\w+)$/, ' and $1')}; on Windows ${ON_WINDOWS.join(', ')}, too`

export function chosenSignals(given: SignalsOption | undefined, os: NodeJS.Platform): ReadonlySet<StopSignal> {
  if (Array.isArray(given)) return new Set<StopSignal>(given)
  const { add = [], skip = [] } = (given as Exclude<SignalsOption, readonly StopSignal[]> | undefined) ?? {}
  return new Set([...stopSignalsDefault(os), ...add].filter((signal) => !skip.includes(signal)))
}

export const SIGNALS_ALLOWED = `a list of ${STOP_SIGNALS.join(', ')}, or { add, skip } with such lists`

const isSignal = (given: unknown): given is StopSignal => (STOP_SIGNALS as readonly unknown[]).includes(given)
const FIELDS: readonly string[] = ['add', 'skip']

export function areSignals(given: unknown): given is SignalsOption {
  if (Array.isArray(given)) return given.every(isSignal)
  if (!isFieldsOnly(given)) return false
  return Object.entries(given).every(
    ([field, list]) => FIELDS.includes(field) && (list === undefined || (Array.isArray(list) && list.every(isSignal))),
  )
}

/** Why a program cannot, or should not, end by it. */
const REFUSED: Readonly<Record<string, string>> = {
  SIGKILL: 'no process can hear it',
  SIGSTOP: 'no process can hear it',
  SIGUSR1: 'node starts its debugger with it',
  SIGPROF: 'the profiler of node uses it',
  SIGCHLD: 'node hears of the end of its children by it',
  SIGPIPE: 'node ignores it: a write to a closed pipe is an error already',
  SIGSEGV: 'after it no JavaScript can run',
  SIGBUS: 'after it no JavaScript can run',
  SIGFPE: 'after it no JavaScript can run',
  SIGILL: 'after it no JavaScript can run',
}

/** What more there is to say about signals that are refused. */
export function whyNotSignals(given: unknown): string {
  const names = [given, ...(typeof given === 'object' && given !== null ? Object.values(given) : [])].flat()
  const wrong = names.find((name) => typeof name === 'string' && !isSignal(name))
  if (typeof wrong !== 'string') return ''
  const why = Object.hasOwn(REFUSED, wrong) ? REFUSED[wrong] : undefined
  return why === undefined ? didYouMean(wrong, STOP_SIGNALS, 'SIG') : ` (${wrong}: ${why})`
}
