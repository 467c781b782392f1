import { didYouMean, meant } from '../base/did-you-mean.ts'
import type { Flag } from '../options/kit/flags.ts'

/** What people type first who come from other commands, by the flag that it is here. */
const OTHER_FLAGS: ReadonlyMap<string, readonly string[]> = new Map([
  ['port', ['p']],
  ['secure-port', ['p', 'port']],
  ['bind-address', ['b', 'H', 'host', 'hostname', 'addr', 'address', 'bind', 'listen']],
  ['config', ['c', 'f', 'file', 'conf']],
  ['out', ['o', 'output']],
  ['html', ['o']],
  ['watch', ['w', 'reload', 'dev']],
  ['export', ['e']],
  ['log-level', ['l', 'q', 'quiet', 'silent', 'debug', 'verbose', 'loglevel']],
  ['deadline', ['t', 'timeout', 'grace', 'grace-period', 'shutdown-timeout', 'kill-timeout']],
  ['shutdown-delay-duration', ['d', 'delay', 'pre-stop', 'prestop']],
  ['tls-cert-file', ['cert', 'certificate', 'crt']],
  ['tls-private-key-file', ['key', 'private-key']],
  ['json', ['j']],
])

/** More than these are no help. */
const SUGGESTED_MAX = 3

/**
 * ` (did you mean "--port"?)` for a flag that there is not, or nothing: one that is an option's
 * name in code (`shutdownDelay`), a usual name elsewhere (`-p`), the beginning of a flag
 * (`shutdown-delay`), or misspelt.
 * @param written without dashes
 * @param prefix what is put in front of a flag's name: `--`, or nothing for a key of a config file
 */
export function nearFlag(written: string, flags: readonly Flag[], prefix = '--'): string {
  const named = flags.find(({ option, isPart }) => option === written && !isPart)
  if (named) return meant(`${prefix}${named.name}`)
  const elsewhere = flags.find(({ name }) => OTHER_FLAGS.get(name)?.includes(written))
  if (elsewhere) return meant(`${prefix}${elsewhere.name}`)
  const names = flags.map(({ name }) => `${prefix}${name}`)
  const word = `${prefix}${inDashes(written)}`
  const longer = names.filter((name) => name.startsWith(word))
  const isHelp = written.length > 1 && longer.length > 0 && longer.length <= SUGGESTED_MAX
  return isHelp ? meant(longer.join('", "')) : didYouMean(word, names, prefix)
}

/** `shutdownDelay` and `shutdown_delay` as flags are written. */
const inDashes = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-')
