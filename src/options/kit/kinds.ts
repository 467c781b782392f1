import { resolve } from 'node:path'
import { didYouMean, meant } from '../../base/did-you-mean.ts'
import { DURATION_ALLOWED, DURATION_TEXT_ALLOWED, type Duration, formatDuration, isDuration, parseDuration } from '../../base/duration.ts'
import { show } from '../../base/errors.ts'
import { isFieldsOnly } from '../../base/records.ts'
import { PORT_MAX } from '../../base/request-target.ts'
import {
  type AnyOption,
  defaultText,
  type Kind,
  type KindName,
  lacks,
  type OptionTable,
  type ResolvedOf,
  resolveOptions,
  type UserOptions,
} from './define.ts'
import { at, fieldPath, unknownField, type Wrong, wrongItem } from './wrong.ts'

/** What an option may be: the kinds of values of a table's rows. */

const asIs = <T>(value: T): T => value

/** @param atLeast the shortest one that is allowed. Default 0. */
export function duration(atLeast: Duration = 0): Kind<Duration, number, 'duration'> {
  const minMs = parseDuration('atLeast', atLeast)
  const words = (text: string): string => (minMs > 0 ? text.replace('0 to', `${formatDuration(minMs)} to`) : text)
  return {
    kind: 'duration',
    placeholder: 'DURATION',
    allowed: words(DURATION_ALLOWED),
    allowedAsText: words(DURATION_TEXT_ALLOWED),
    accepts: (given) => isDuration(given) && parseDuration('', given) >= minMs,
    resolve: (given) => parseDuration('', given),
    show: (given) => (typeof given === 'number' ? formatDuration(given) : given),
  }
}

export const choice = <const Value extends string>(...values: readonly Value[]): Kind<Value, Value, 'choice'> => choiceOf(values)

/** Other names by our name. */
export type OtherNames = Readonly<Partial<Record<string, readonly string[]>>>

/**
 * @param otherNames what others call a value, in small letters, by what it is here: words that are
 * too far from ours to look misspelt
 */
export const choiceOf = <const Value extends string>(
  values: readonly Value[],
  otherNames: OtherNames = {},
): Kind<Value, Value, 'choice'> => ({
  kind: 'choice',
  placeholder: values.join('|'),
  choices: values,
  allowed: values.join(', '),
  remark: (given) => {
    if (typeof given !== 'string') return ''
    const ours = values.find((value) => otherNames[value]?.includes(given.toLowerCase()))
    return ours === undefined ? didYouMean(given, values) : meant(ours)
  },
  accepts: (given) => (values as readonly unknown[]).includes(given),
  fromText: (given) => values.find((each) => each === given),
  resolve: asIs,
  show: asIs,
})

/** @param isAllowed which texts; none is empty */
export const text = (what: string, isAllowed: (given: string) => boolean = () => true): Kind<string, string, 'text'> => ({
  kind: 'text',
  allowed: what,
  accepts: (given) => typeof given === 'string' && given !== '' && isAllowed(given),
  resolve: asIs,
  show: asIs,
})

/**
 * A name of a file, which shells complete. It is resolved here, once: what is checked at the start,
 * watched, and written at the end is the same file after a `process.chdir()`.
 * @param words what may be given that names no file
 */
export const file = (what = 'a file name', ...words: readonly string[]): Kind<string, string, 'text'> => ({
  ...text(what),
  placeholder: 'FILE',
  resolve: (given) => (words.includes(given) ? given : resolve(given)),
})

/** Linux has room for so many bytes. Node 20 makes a socket with the beginning of a longer name. */
const SOCKET_PATH_MAX = 107
const isSocketPath = (given: string): boolean =>
  !given.includes('\0') && (given.startsWith('\\\\') || Buffer.byteLength(given) <= SOCKET_PATH_MAX)

/**
 * The path of a Unix socket, or the name of a pipe of Windows. An abstract socket, whose name
 * begins with a null byte, has no permissions: it would serve every user of the host.
 */
export const socketPath = (): Kind<string, string, 'text'> =>
  text(`a path of at most ${SOCKET_PATH_MAX} bytes, none of them null`, isSocketPath)

/** The name of a Unix socket, which stays as it is: it may be too long for one when it is whole. */
export const socketFile = (): Kind<string, string, 'text'> => ({ ...socketPath(), placeholder: 'FILE' })

export const onOff = (): Kind<boolean, boolean, 'switch'> => ({
  kind: 'switch',
  allowed: 'true, false',
  accepts: (given) => typeof given === 'boolean',
  resolve: asIs,
  show: String,
  switch: { on: true, off: false, bare: false },
})

/** A switch with a third position, as it fits the place where the process runs. */
export const onOffAuto = (): Kind<boolean | 'auto', boolean | 'auto', 'switch'> => ({
  kind: 'switch',
  allowed: "'auto', true, false",
  accepts: (given) => typeof given === 'boolean' || given === 'auto',
  resolve: asIs,
  show: String,
  switch: { on: true, off: false, bare: false },
})

/** A switch that is on when it is there. Only flags can be that. */
export const present = (): Kind<boolean, boolean, 'switch'> => ({ ...onOff(), switch: { on: true, off: false, bare: true } })

/** A list that is written with commas between its items, or by several flags. */
export const list = <Item extends string>(items: readonly Item[]): Kind<readonly Item[], readonly Item[], 'value'> => ({
  kind: 'value',
  placeholder: 'LIST',
  choices: items,
  joint: ',',
  allowed: `a list, by commas, of ${items.join(', ')}`,
  accepts: (given) => Array.isArray(given) && given.every((item) => items.includes(item)),
  // In a config file it may be a list.
  fromText: (given) => {
    const split = typeof given === 'string' ? given.split(',') : given
    return Array.isArray(split) && split.every((item) => items.includes(item as Item)) ? split : undefined
  },
  resolve: asIs,
  show: (given) => given.join(','),
})

/** A whole number. What looks like one in text is one; `1e3` and `0x50` do not. */
export const integer = (from: number, to: number, allowed = `a whole number from ${from} to ${to}`): Kind<number, number, 'value'> => {
  const accepts = (given: unknown): boolean => Number.isInteger(given) && (given as number) >= from && (given as number) <= to
  return {
    kind: 'value',
    placeholder: 'NUMBER',
    allowed,
    accepts,
    // What is out of bounds is refused as it was written.
    fromText: (given) => (accepts(numberOf(given)) ? numberOf(given) : undefined),
    resolve: asIs,
    show: String,
  }
}

/** A probability, which is small. */
export const chance = (to: number): Kind<number, number, 'value'> => {
  const accepts = (given: unknown): boolean => typeof given === 'number' && given >= 0 && given <= to
  const chanceOf = (given: unknown): unknown =>
    typeof given === 'string' && /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(given) ? Number(given) : given
  return {
    kind: 'value',
    placeholder: 'CHANCE',
    allowed: `a number from 0 to ${to}`,
    accepts,
    fromText: (given) => (accepts(chanceOf(given)) ? (chanceOf(given) as number) : undefined),
    resolve: asIs,
    show: String,
  }
}

/** A number as it may stand in a config file, or the same as text; undefined for anything else. */
export const writtenNumber = (given: unknown): string | undefined =>
  (typeof given === 'string' || typeof given === 'number') && /^\d+$/.test(String(given)) ? String(given) : undefined

const numberOf = (given: unknown): unknown => (typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given)

/** A number, or its digits as text, since most ports come from the environment. */
export function port(): Kind<number | string, number, 'port'> {
  const number = integer(0, PORT_MAX, `an integer from 0 to ${PORT_MAX}; 0 is any free port`)
  return {
    ...number,
    kind: 'port',
    placeholder: 'PORT',
    accepts: (given) => number.accepts(numberOf(given)),
    resolve: Number,
    show: String,
    // The server's options refuse what is out of bounds, together with all else.
    fromText: numberOf,
  }
}

export const host = (): Kind<string, string, 'text'> => ({
  ...text('a host name or an IP address'),
  placeholder: 'HOST',
  // An IPv6 address as it stands in a URL and in `HOST:PORT`. Node wants it bare.
  fromText: (given) => (typeof given === 'string' ? given.replace(/^\[([\da-f:.]*:[^\]]*)\]$/i, '$1') : given),
})

export const ADDRESS_ALLOWED = `HOST:PORT with a port from 0 to ${PORT_MAX}`

/** `HOST:PORT`, with an IPv6 address in brackets. */
export function addressOf(given: unknown): { readonly host: string; readonly port: number } | undefined {
  const [, bracketed, plain, digits] = (typeof given === 'string' && /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(given)) || []
  const name = bracketed ?? plain
  return name !== undefined && Number(digits) <= PORT_MAX ? { host: name, port: Number(digits) } : undefined
}

/** Anything else that can only be given in code. */
export const value = <T>(allowed: string, accepts: (given: unknown) => boolean): Kind<T, T, 'value'> => ({
  kind: 'value',
  allowed,
  accepts,
  resolve: asIs,
  show: (given) => (Array.isArray(given) ? given.join(', ') || 'none' : show(given)),
})

export const isRecord = (given: unknown): given is Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

export const isText = (given: unknown): boolean => typeof given === 'string'

/** A list whose items have a rule of their own; `wrong` says what of one that is refused. */
export const listOf = <T>(
  allowed: string,
  wrong: (item: unknown) => Wrong | undefined,
  atLeast = 0,
): Kind<readonly T[], readonly T[], 'value'> => {
  const wrongIn = (given: unknown): Wrong | undefined =>
    Array.isArray(given) && given.length < atLeast ? { path: '', given, allowed } : wrongItem(given, allowed, wrong)
  return {
    ...value<readonly T[]>(allowed, (given) => wrongIn(given) === undefined),
    wrong: wrongIn,
    wrongs: (given) => (Array.isArray(given) ? given.flatMap((item, index) => wrongAt(index, wrong(item))) : []),
  }
}

const wrongAt = (index: number, wrong: Wrong | undefined): Wrong[] => (wrong ? [at(`[${index}]`, wrong)] : [])

/** The same as text: with commas between its items, or by several flags. */
export const withCommas = <T, Resolved>(kind: Kind<readonly T[], Resolved, 'value'>): Kind<readonly T[], Resolved, 'value'> => ({
  ...kind,
  placeholder: 'LIST',
  joint: ',',
  allowedAsText: `${kind.allowed}, by commas`,
  fromText: (given) => (typeof given !== 'string' ? given : given === '' ? [] : given.split(',')),
})

/** Lists that are asked whether they hold something. */
export const setOf = <T>(allowed: string, accepts: (item: unknown) => boolean): Kind<readonly T[], ReadonlySet<T>, 'value'> => ({
  ...value<readonly T[]>(allowed, (given) => Array.isArray(given) && given.every(accepts)),
  resolve: (given) => new Set(given),
})

/** What is said about the fields of an object, when it does not follow from their rows. */
interface FieldsWords {
  readonly allowed: string
  /** What is wrong with fields that are usable each by itself. */
  readonly together?: (given: Readonly<Record<string, unknown>>) => Wrong | undefined
}

/** An object whose fields are options themselves. */
export const fields = <const T extends OptionTable>(table: T, words: FieldsWords): Kind<UserOptions<T>, ResolvedOf<T>, 'value'> =>
  fieldsNeeding(table, [], words)

type With<Options, Required extends keyof Options> = Options & { readonly [Name in Required]-?: NonNullable<Options[Name]> }

/** The same, where some of the fields have to be given. */
export function fieldsNeeding<const T extends OptionTable, const Required extends keyof T & keyof ResolvedOf<T> & string>(
  table: T,
  required: readonly Required[],
  { allowed, together }: FieldsWords,
): Kind<With<UserOptions<T>, Required>, With<ResolvedOf<T>, Required>, 'value'> {
  const wrong = (given: unknown): Wrong | undefined => {
    if (!isFieldsOnly(given)) return { path: '', given, allowed }
    for (const [name, field] of Object.entries(given)) {
      const row = Object.hasOwn(table, name) ? table[name] : undefined
      if (!row) return unknownField(name, field, Object.keys(table))
      if (field !== undefined && !row.accepts(field)) return at(fieldPath(name), wrongWith(row, field))
    }
    const missing = required.find((name) => given[name] === undefined)
    if (missing !== undefined) return { path: fieldPath(missing), given: undefined, allowed: (table[missing] as AnyOption).allowed }
    return together?.(given) ?? fieldThatLacks(table, given)
  }
  return {
    kind: 'value',
    allowed,
    accepts: (given) => wrong(given) === undefined,
    wrong,
    resolve: (given) => resolveOptions(table, given) as With<ResolvedOf<T>, Required>,
    show: () =>
      Object.entries(table)
        .map(([name, row]) => `${name} ${defaultText(row)}`)
        .join(', '),
    fields: table,
  }
}

/** Wherever an object stands, also in a list, a field of it that must not be alone is refused. */
function fieldThatLacks(table: OptionTable, given: Readonly<Record<string, unknown>>): Wrong | undefined {
  for (const [name, field] of Object.entries(given)) {
    const needs = table[name]?.needs
    if (field === undefined || needs?.otherwise !== 'refused' || !lacks(needs, field, given)) continue
    const flags = needs.anyOf.flatMap((other) => table[other]?.flag ?? []).map((flag) => `--${flag}`)
    const allowed = (others: readonly string[]): string => `only with ${others.join(' or ')}: ${needs.because}`
    return {
      path: fieldPath(name),
      given: field,
      allowed: allowed(needs.anyOf),
      ...(flags.length > 0 && { allowedAsText: allowed(flags) }),
    }
  }
  return undefined
}

/** What is wrong with a value that a row refuses. */
export function wrongWith({ allowed, wrong }: AnyOption, given: unknown): Wrong {
  const found = wrong?.(given)
  return found && found.path !== '' ? found : { path: '', given, allowed }
}

/** Everything that is wrong with a value, where its parts are reported each by itself. */
export function wrongsWith(row: AnyOption, given: unknown): readonly Wrong[] {
  const wrongs = row.wrongs?.(given) ?? []
  return wrongs.length > 0 ? wrongs : [wrongWith(row, given)]
}

/** An object of durations. */
export const durations = <const T extends OptionTable>(
  table: T,
  words: FieldsWords,
): Kind<UserOptions<T>, { readonly [Name in keyof T]: number }, 'durations'> => ({
  ...fields(table, words),
  kind: 'durations',
  resolve: (given) => {
    const resolved: Readonly<Record<string, unknown>> = resolveOptions(table, given)
    return Object.fromEntries(Object.keys(table).map((name) => [name, resolved[`${name}Ms`]])) as { readonly [Name in keyof T]: number }
  },
})

/** A switch that may also be on with the fields of an object. Off is undefined when resolved. */
export const onOffOr = <Given extends object, Resolved, Name extends KindName>(
  kind: Kind<Given, Resolved, Name>,
): Kind<boolean | Given, Resolved | undefined, Name> => ({
  ...kind,
  allowed: `true, false, or ${kind.allowed}`,
  accepts: (given) => typeof given === 'boolean' || kind.accepts(given),
  resolve: (given) => (given === false ? undefined : kind.resolve(given === true ? ({} as Given) : given)),
  show: (given) => (typeof given === 'boolean' ? String(given) : kind.show(given)),
  switch: { on: {}, off: undefined, bare: false },
})
