import { didYouMean, meant } from '../base/did-you-mean.ts'
import type { Flag } from '../options/define.ts'

/** More than these are no help. */
const SUGGESTED_MAX = 3

/**
 * ` (did you mean "--port"?)` for a flag that there is not, or nothing: one that is an option's
 * name in code (`shutdownDelay`), the beginning of a flag (`shutdown-delay`), or misspelt.
 * @param written without dashes
 * @param prefix what is put in front of a flag's name: `--`, or nothing for a key of a config file
 */
export function nearFlag(written: string, flags: readonly Flag[], prefix = '--'): string {
  const named = flags.find(({ option, isPart }) => option === written && !isPart)
  if (named) return meant(`${prefix}${named.name}`)
  const names = flags.map(({ name }) => `${prefix}${name}`)
  const word = `${prefix}${inDashes(written)}`
  const longer = names.filter((name) => name.startsWith(word))
  const isHelp = written.length > 1 && longer.length > 0 && longer.length <= SUGGESTED_MAX
  return isHelp ? meant(longer.join('", "')) : didYouMean(word, names, prefix)
}

/** `shutdownDelay` and `shutdown_delay` as flags are written. */
const inDashes = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`).replaceAll('_', '-')
