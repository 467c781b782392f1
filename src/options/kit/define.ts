import { optionError, QuiesceError } from '../../base/errors.ts'
import type { FrontName } from '../../platforms/fronts.ts'
import { PLATFORM_NAMES, PLATFORMS, type PlatformName } from '../../platforms/platforms.ts'
import { terminal } from '../../platforms/terminal.ts'
import type { UpstreamWords } from './upstream-words.ts'
import type { Wrong } from './wrong.ts'

/**
 * Options as data: one row per option, from which everything else follows: the types of what users
 * write and of what code reads, validation, flags, `QUIESCE_*` variables, help, and the table in
 * the documentation. Tables compose, so that a package brings its own.
 *
 * ```ts
 * const OPTIONS = defineOptions({
 *   /** What editors show. @default 30s *\/
 *   compactAfter: option(duration(), {
 *     default: '30s',
 *     flag: 'compact-after',
 *     meaning: 'Time between two compactions',
 *   }),
 * })
 * interface Options extends UserOptions<typeof OPTIONS> {}
 * ```
 */

/**
 * Where a default may be another one: on a platform, for a stop that a person waits for, or by the
 * function that is called.
 */
export type Place = PlatformName | FrontName | 'terminal' | 'attachLifecycle' | 'createLife'

/** `Ms` is added to the name of a resolved duration. */
export type KindName = 'duration' | 'durations' | 'choice' | 'port' | 'text' | 'switch' | 'value'

/** What a value may be, and how text becomes one. Kinds are made by the functions of kinds.ts. */
export interface Kind<Given, Resolved = Given, Name extends KindName = KindName> {
  readonly kind: Name
  readonly allowed: string
  /** The same where only text can be written: a flag or an environment variable. */
  readonly allowedAsText?: string
  readonly accepts: (given: unknown) => boolean
  /**
   * The value that a text stands for, or undefined when it cannot be read as one. Default: the text
   * itself.
   */
  readonly fromText?: (text: unknown) => unknown
  readonly resolve: (given: Given) => Resolved
  readonly show: (given: Given) => string
  /** More about a value that is refused, with a space in front; empty for nothing. */
  readonly remark?: (given: unknown) => string
  /** The part of a refused value that is wrong, and why. Default: the value itself. */
  readonly wrong?: (given: unknown) => Wrong | undefined
  /** The refused items of a list; none for what is no list. */
  readonly wrongs?: (given: unknown) => readonly Wrong[]
  /** The fields of an object, which are options themselves. */
  readonly fields?: OptionTable
  /** The same of the objects of a list. */
  readonly itemFields?: OptionTable
  /** Flags that set several of its fields at once. */
  readonly jointFlags?: readonly JointFlag[]
  /** What stands for a value in the help of a flag: `PORT`. Default: `VALUE`. */
  readonly placeholder?: string
  /** A flag of this kind may be given several times: what stands between its texts then. */
  readonly joint?: string
  /** All values there are, or all items of a list; shells complete them. */
  readonly choices?: readonly string[]
  /** A flag of this kind takes no value. What it stands for when it is on, and when it is off. */
  readonly switch?: Switch<unknown>
}

/** One flag for several fields of an object, as `HOST:PORT` is one. */
export interface JointFlag {
  readonly flag: string
  /** The fields, or undefined when the text cannot be read. */
  readonly fromText: (text: unknown) => object | undefined
  readonly allowed: string
  readonly defaultWords: string
  readonly meaning: string
}

export interface Switch<Given> {
  readonly on: Given
  readonly off: Given
  /** What being on means. Default: the option's meaning. */
  readonly meaning?: string
  /** Whether it has no value, not even `true` or `false`: it is on when it is there. */
  readonly bare: boolean
}

/** What else has to be given for an option to mean something. */
export interface Needs {
  /** Other options, or fields of the same object: any of them is enough. */
  readonly anyOf: readonly string[]
  /**
   * What it is without: refused, where its user would take it for a protection, or would be given
   * away; or without effect, which is a warning at the start.
   */
  readonly otherwise: 'refused' | 'without effect'
  /** Why, as the end of a sentence. */
  readonly because: string
  /** Whether a value needs it. Default: every one that is not off. */
  readonly when?: (given: unknown) => boolean
  /** Whether what is given beside it is enough. Default: one of them is there, and is not off. */
  readonly isMet?: (beside: Readonly<Record<string, unknown>>) => boolean
  /** The ways to make a life for which this holds. Default: all. */
  readonly at?: readonly Place[]
}

/** Whether an option, or a field, is given without what it needs. */
export function lacks(needs: Needs | undefined, value: unknown, beside: Readonly<Record<string, unknown>>): needs is Needs {
  if (needs === undefined) return false
  const { anyOf, when = isOn, isMet = () => anyOf.some((name) => isOn(beside[name])) } = needs
  return when(value) && !isMet(beside)
}

const isOn = (value: unknown): boolean => value !== undefined && value !== false

interface About<Given> extends UpstreamWords {
  /** The meaning in one line, without a full stop: for help and documentation. */
  readonly meaning: string
  /**
   * The flag without the dashes; also the key in a config file and, as `QUIESCE_…`, the environment
   * variable.
   */
  readonly flag?: string
  /** Another environment variable than that. */
  readonly env?: string
  /** What commands use instead of the default: upstream's flags have defaults of their own. */
  readonly cliDefault?: Given
  /** The switch of an option that is a choice elsewhere and only on or off as a flag. */
  readonly switch?: Omit<Switch<Given>, 'bare'>
  /** Whether it is kept out of what is printed. */
  readonly secret?: boolean
  /** The flag of a field turns on the object that it belongs to, unless this is false. */
  readonly turnsOn?: boolean
  /** Upstream's name: a flag, a Config field or a server field. */
  readonly upstream?: string
  /** The options without which it is refused, or has no effect. */
  readonly needs?: Needs
}

interface WithDefault<Given, Default> extends About<Given> {
  readonly default: Default
  /** Where it is another one. */
  readonly on?: { readonly [P in Place]?: Given }
  /** Around the default as it is shown, for what depends on other options. */
  readonly defaultWords?: (shown: string) => string
}

interface WithoutDefault<Given> extends About<Given> {
  readonly default?: undefined
  /** What holds when nothing is given. */
  readonly defaultWords: string
}

/** A row: the kind of an option, and what is said about it. */
export interface Option<Given, Resolved, Name extends KindName, Default>
  extends Kind<Given, Resolved, Name>,
    Omit<About<unknown>, 'switch'> {
  readonly default: Default
  readonly on?: { readonly [P in Place]?: unknown }
  readonly defaultWords?: string | ((shown: string) => string)
}

export type AnyOption = Option<never, unknown, KindName, unknown>
export type OptionTable = Readonly<Record<string, AnyOption>>

type GivenOf<Row> = Row extends { readonly resolve: (given: infer Given) => unknown } ? Given : never
type ResolvedValue<Row> = Row extends { readonly resolve: (given: never) => infer Resolved; readonly default: infer Default }
  ? Default extends undefined
    ? Resolved | undefined
    : Resolved
  : never
type ResolvedName<Name, Row> = Row extends { readonly kind: 'duration' | 'durations' } ? `${Name & string}Ms` : Name

/** What users write: everything may be left out, and `undefined` is the same as leaving it out. */
export type UserOptions<T> = { readonly [Name in keyof T]?: GivenOf<T[Name]> | undefined }
/** What code reads: complete, with durations in milliseconds under names that end in `Ms`. */
export type ResolvedOf<T> = { readonly [Name in keyof T as ResolvedName<Name, T[Name]>]: ResolvedValue<T[Name]> }

/** A row. One without a default says in words what holds instead. */
export function option<Given, Resolved, Name extends KindName, const Default extends Given>(
  kind: Kind<Given, Resolved, Name>,
  about: WithDefault<NoInfer<Given>, Default>,
): Option<Given, Resolved, Name, Default>
export function option<Given, Resolved, Name extends KindName>(
  kind: Kind<Given, Resolved, Name>,
  about: WithoutDefault<NoInfer<Given>>,
): Option<Given, Resolved, Name, undefined>
export function option<Given, Resolved, Name extends KindName>(
  kind: Kind<Given, Resolved, Name>,
  about: WithDefault<Given, Given> | WithoutDefault<Given>,
): Option<Given, Resolved, Name, Given | undefined> {
  const { switch: onOff, ...rest } = about
  return { ...kind, default: undefined, ...rest, ...(onOff && { switch: { ...onOff, bare: false } }) }
}

/**
 * A table of options.
 * @throws QuiesceError ERR_OPTION_INVALID for a default that its own row refuses, ERR_DUPLICATE for
 * a flag or variable of two rows
 */
export function defineOptions<const T extends OptionTable>(table: T): T {
  for (const [name, row] of Object.entries<AnyOption>(table)) {
    for (const value of [row.default, row.cliDefault, ...Object.values(row.on ?? {})])
      if (value !== undefined && !row.accepts(value)) throw optionError(`default of ${name}`, value, row.allowed)
  }
  const names = namesOf(table)
  refuseTwice(
    'flag',
    names.map(({ flag }) => flag),
  )
  refuseTwice(
    'environment variable',
    names.map(({ env }) => env),
  )
  return table
}

/**
 * Flag and variable of each row and field. The flags themselves are for commands: their texts are a
 * twentieth of an import.
 */
function namesOf(table: OptionTable): { readonly flag: string; readonly env: string }[] {
  const named: readonly { readonly flag?: string; readonly env?: string }[] = Object.values(table).flatMap((row) => [
    row,
    ...(row.jointFlags ?? []),
    ...Object.values(row.fields ?? {}),
  ])
  return named.flatMap(({ flag, env }) => (flag === undefined ? [] : [{ flag, env: env ?? envName(flag) }]))
}

/**
 * The options of both tables, those of the first one first.
 * @throws QuiesceError ERR_DUPLICATE for an option, flag or variable that both have
 */
export function composeOptions<const A extends OptionTable, const B extends OptionTable>(first: A, second: B): A & B {
  refuseTwice('option', [...Object.keys(first), ...Object.keys(second)])
  return defineOptions({ ...first, ...second })
}

/** Some options of a table. */
export const pickOptions = <const T extends OptionTable, const Name extends keyof T & string>(
  table: T,
  names: readonly Name[],
): Pick<T, Name> => Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<T, Name>

/** The same table for a command whose defaults are those of code. */
export const withoutCliDefaults = (table: OptionTable): OptionTable =>
  Object.fromEntries(Object.entries(table).map(([name, { cliDefault: _, ...row }]) => [name, row]))

function refuseTwice(what: string, names: readonly string[]): void {
  const name = names.find((each, at) => names.indexOf(each) !== at)
  if (name !== undefined) throw new QuiesceError('ERR_DUPLICATE', `${what} ${name}: two options have it`, { [what]: name })
}

export const ENV_PREFIX = 'QUIESCE_'
export const envName = (flag: string): string => `${ENV_PREFIX}${flag.toUpperCase().replaceAll('-', '_')}`

/** The default of a row at some places: of those where it is another one, the last place counts. */
export function defaultAt<Given>(row: { readonly default: Given; readonly on?: object }, places: readonly Place[]): Given {
  const on: { readonly [P in Place]?: Given } = row.on ?? {}
  return places.reduce((value, place) => on[place] ?? value, row.default)
}

/** The default in words, with every number from the row. */
export function defaultText(row: AnyOption): string {
  const { default: value, defaultWords } = row
  if (typeof defaultWords === 'string') return defaultWords
  const shown = value === undefined ? 'none' : byPlace(row)
  return defaultWords?.(shown) ?? shown
}

/** `5s on Kubernetes, else 0s; 1s after Ctrl-C on a terminal` */
function byPlace({ default: value, on = {}, show }: AnyOption): string {
  const shown = show(value as never)
  const others = (places: readonly Place[]): string[] =>
    places
      .filter((place) => on[place] !== undefined && show(on[place] as never) !== shown)
      .map((place) => `${show(on[place] as never)} ${WORDS[place]}`)
  // Of several docs/platforms.md says which: another one changes nothing here.
  const platforms = others(PLATFORM_NAMES)
  const functions = others(['attachLifecycle'])
  const first = functions.length > 0 ? [`${shown} for createServer`, ...functions] : [shown]
  const byPlatform = platforms.length > 1 ? ['by platform'] : platforms
  return [(platforms.length > 0 ? [...byPlatform, `else ${shown}`] : first).join(', '), ...others(['terminal'])].join('; ')
}

const WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(PLATFORMS.map(({ name, where }) => [name, where])),
  terminal: terminal.where,
  attachLifecycle: 'for attachLifecycle',
  createLife: 'for createLife',
}

/** Completes options that have been checked. */
export function resolveOptions<T extends OptionTable>(table: T, given: UserOptions<T>, places: readonly Place[] = []): ResolvedOf<T> {
  const resolved = Object.entries<AnyOption>(table).map(([name, row]) => {
    const value = (Object.hasOwn(given, name) ? given[name] : undefined) ?? defaultAt(row, places)
    return [resolvedName(name, row), value === undefined ? undefined : row.resolve(value as never)]
  })
  return Object.fromEntries(resolved) as ResolvedOf<T>
}

export const resolvedName = (name: string, { kind }: { readonly kind: KindName }): string =>
  kind === 'duration' || kind === 'durations' ? `${name}Ms` : name
