import type { AnyOption, OptionTable } from '../options/kit/define.ts'
import { type Flag, flagsOf } from '../options/kit/flags.ts'
import type { Settings } from './arguments.ts'

/**
 * Every setting of a command as a config file that sets the same again: what is given, and the
 * default of what is not. Left out is what has no value or is secret, and what follows from other
 * settings or from the platform; `quiesce plan` says what that comes to.
 */
export function printedConfig(tables: readonly OptionTable[], settings: Settings): string {
  const entries = tables.flatMap((table) => {
    const flags = flagsOf(table)
    const on = new Set(flags.flatMap(({ name, option, turnsOn }) => (turnsOn && settings.has(name) ? [option] : [])))
    // A part would bring the whole with it.
    const shown = flags.filter(({ option, isPart, isSecret }) => !isSecret && (!isPart || on.has(option)))
    return shown.map((flag) => [flag.name, printedValue(flag, table, settings)] as const)
  })
  return `${JSON.stringify(Object.fromEntries(entries.filter(([, value]) => value !== undefined)), undefined, 2)}\n`
}

function printedValue(flag: Flag, table: OptionTable, settings: Settings): unknown {
  const given = settings.get(flag.name)?.given
  if (flag.switch) return given === undefined ? switchDefault(flag) : given === true || given === 'true'
  const row = flag.isPart ? table[flag.option]?.fields?.[flag.field ?? ''] : table[flag.option]
  return given ?? (row && plainDefault(row))
}

/** The default of a switch as help has it: what is neither on nor off is said in words there. */
const switchDefault = ({ default: words }: Flag): boolean | undefined => (['true', 'false'].includes(words) ? words === 'true' : undefined)

function plainDefault({ cliDefault, default: fallback, on, defaultWords }: AnyOption): unknown {
  if (cliDefault !== undefined) return cliDefault
  if (on !== undefined || defaultWords !== undefined) return undefined
  const isPlain = Array.isArray(fallback) ? fallback.length > 0 : ['string', 'number'].includes(typeof fallback)
  return isPlain ? fallback : undefined
}
