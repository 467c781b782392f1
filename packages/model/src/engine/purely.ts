import { ModelError } from '../errors.ts'
import { INIT } from './internals.ts'

/** A step that is being computed: where, for the message, and what it has called. */
interface Computation {
  readonly where: () => Where
  impure?: ModelError
}

/** A step, by the machine, the state that it leaves and its event. */
export interface Where {
  readonly machine: string
  readonly value?: unknown
  readonly event?: string
}

/** `loader, state "waiting", event GO` */
export const stepInWords = ({ machine, value, event }: Where): string =>
  [
    machine,
    ...(value === undefined ? [] : [`state ${JSON.stringify(value)}`]),
    ...(event === undefined ? [] : [event === INIT ? 'its start' : `event ${event}`]),
  ].join(', ')

let current: Computation | undefined

/**
 * Calls code of the user's that may depend on what it is given only. What it throws for chance or
 * the clock is kept, because xstate makes other errors of what a condition throws.
 * @throws ModelError ERR_MODEL_IMPURE
 */
export function purely<T>(where: () => Where, call: () => T): T {
  const outer = current
  const own: Computation = { where }
  current = own
  try {
    return call()
  } finally {
    current = outer
    // biome-ignore lint/correctness/noUnsafeFinally: whatever else was thrown follows from it.
    if (own.impure) throw own.impure
  }
}

type Source = readonly [holder: object | undefined, key: string, name: string]

const ofAll = (holder: object | undefined, name: string, keys: readonly string[]): Source[] =>
  keys.map((key) => [holder, key, `${name}.${key}()`])

interface Global {
  readonly process?: {
    readonly hrtime?: object
    readonly memoryUsage?: object
    /** From Node 20.16 and 22.3 on. */
    readonly getBuiltinModule?: (name: string) => object | undefined
  }
  readonly Temporal?: { readonly Now?: object }
}

/** A module of node's own, where there is one: browsers have none. */
const nodeModule = (name: string): object | undefined => (globalThis as Global).process?.getBuiltinModule?.(name)

/**
 * What answers differently each time, by the object that has it: as far as this system has it. Not
 * what a named import has taken from it: node renews those of all its modules at once, and with
 * them what others have put there for a while.
 */
function sources(): Source[] {
  const { process, Temporal } = globalThis as Global
  return [
    ...ofAll(Math, 'Math', ['random']),
    ...ofAll(globalThis.performance, 'performance', ['now']),
    ...ofAll(globalThis.crypto, 'crypto', ['randomUUID', 'getRandomValues']),
    // Node's module is another object than the global one.
    ...ofAll(nodeModule('node:crypto'), 'crypto', ['randomUUID', 'randomBytes', 'randomInt', 'randomFillSync']),
    // What is inside of a function first: the function itself is hidden then.
    ...ofAll(process?.hrtime, 'process.hrtime', ['bigint']),
    ...ofAll(process?.memoryUsage, 'process.memoryUsage', ['rss']),
    ...ofAll(process, 'process', ['uptime', 'hrtime', 'cpuUsage', 'memoryUsage', 'resourceUsage']),
    ...ofAll(Temporal?.Now, 'Temporal.Now', ['instant', 'plainDateISO', 'plainDateTimeISO', 'plainTimeISO', 'zonedDateTimeISO']),
  ]
}

/**
 * Runs `explore` while chance and the clock are watched: what asks them for a step is named. They
 * answer everything else, as what reports the progress, like always.
 */
export function watchingChance<T>(explore: () => T): T {
  const undo = [...sources().flatMap(([holder, key, name]) => (holder ? [replaced(holder, key, (real) => watched(real, name))] : []))]
  undo.push(replaced(globalThis, 'Date', (real) => watchedDate(real as DateConstructor)))
  try {
    return explore()
  } finally {
    for (const restore of undo.reverse()) restore()
  }
}

function replaced(holder: object, key: string, make: (real: object) => object): () => void {
  const own = Object.getOwnPropertyDescriptor(holder, key)
  const real: unknown = Reflect.get(holder, key)
  if (typeof real !== 'function') return () => {}
  const value = make(real)
  // One that is locked, as some sandboxes do, stays as it is.
  if (!Reflect.defineProperty(holder, key, { configurable: true, writable: true, enumerable: own?.enumerable ?? false, value }))
    return () => {}
  return () => void (own ? Reflect.defineProperty(holder, key, own) : Reflect.deleteProperty(holder, key))
}

const watched = (real: object, name: string): object =>
  new Proxy(real, {
    apply(target, self, args) {
      refuse(name)
      return Reflect.apply(target as () => unknown, self, args)
    },
  })

const watchedDate = (real: DateConstructor): object =>
  new Proxy(real, {
    apply(target, self, args) {
      refuse('Date()')
      return Reflect.apply(target, self, args)
    },
    construct(target, args, made) {
      if (args.length === 0) refuse('new Date()')
      return Reflect.construct(target, args, made) as object
    },
    get(target, key) {
      if (key !== 'now') return Reflect.get(target, key) as unknown
      return (): number => {
        refuse('Date.now()')
        return target.now()
      }
    },
  })

function refuse(calls: string): void {
  if (!current) return
  const at = callerOf(new Error().stack)
  // Node itself looks at its clock for what decides nothing, such as `console.time()`.
  if (fileOf(at).startsWith('node:')) return
  const { machine, value, event } = current.where()
  current.impure ??= new ModelError(
    'ERR_MODEL_IMPURE',
    `${stepInWords({ machine, value, ...(event !== undefined && { event }) })}: a condition, assignment, delay or input calls ${calls}${at && ` (${at})`}, ` +
      'so the step depends on more than the state and the event. Pass that value as input, in an event, or as the result of a child',
    { machine, value, event, calls, at },
  )
  throw current.impure
}

/** The first place on the stack outside of this file. */
function callerOf(stack = ''): string {
  const [, own = '', ...rest] = stack.split('\n').map((line) => line.trim())
  const file = fileOf(own)
  return rest.find((line) => ![file, ''].includes(fileOf(line))) ?? ''
}

/** The file in `at guard (file:///door.mjs:3:20)` and `at file:///door.mjs:3:20`. */
const fileOf = (line: string): string =>
  line
    .slice(line.lastIndexOf('(') + 1)
    .replace('at ', '')
    .split(':')
    .slice(0, -2)
    .join(':')
