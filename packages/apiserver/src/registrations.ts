import {
  allOrNone,
  type Check,
  checkedCheckOptions,
  checkedFunction,
  checkedRegistration,
  checkFunction,
  checkMuxSignal,
  type DestroyOptions,
  HEALTH_ENDPOINTS,
  type Health,
  type HealthEndpointName,
  type Life,
  type LivezCheckOptions,
  type PreShutdownHookOptions,
  Registry,
  type ServedLife,
  type StopCode,
  show,
  type UserCode,
} from './engine.ts'

/** Gives one registration to the life of the server that is run. */
type Give = (life: Life) => void

interface GivenCheck {
  readonly check: Check
  readonly options?: LivezCheckOptions | undefined
}

/** What health endpoints say, in the order in which it was registered. */
type Line =
  | { readonly of: 'check'; readonly name: string; readonly on: readonly HealthEndpointName[]; readonly given: GivenCheck }
  | { readonly of: 'hook'; readonly name: string; readonly isInherited: boolean; readonly livezGraceMs?: number | undefined }

function graceOf({ isInherited, livezGraceMs }: Line & { readonly of: 'hook' }): { readonly livezGraceMs?: number } {
  const graceMs = livezGraceMs ?? (isInherited ? 0 : undefined)
  return graceMs === undefined ? {} : { livezGraceMs: graceMs }
}

const registry = <T = Give>(of: string, duplicate: (name: string, at: string) => string) =>
  new Registry<T>({ of, tooLate: (name) => `unable to add ${show(name)}: the server has been prepared`, duplicate })

const takenBy = (name: string, at: string): string => `unable to add ${show(name)} because it was already registered by: ${at}`

const checks = () => registry<Line>('a health check', takenBy)

/** Names of checks that several servers of one life have in common. */
const SHARED = new WeakMap<Life, Set<string>>()

function giveShared(life: Life, name: string, check: Check): void {
  const known = SHARED.get(life) ?? new Set()
  SHARED.set(life, known)
  if (!known.has(name)) life.addReadyzCheck(name, check)
  known.add(name)
}

/**
 * What was registered on one server of a chain, until the server that is run is prepared and all of
 * it becomes part of that one's life.
 * @see kubernetes/apiserver pkg/server/config.go completedConfig.New
 */
export class ApiServerRegistrations {
  readonly #postStartHooks = registry<UserCode>('a post-start hook', takenBy)
  readonly #preShutdownHooks = registry(
    'a pre-shutdown hook',
    (name, at) => `unable to add ${show(name)} because it is already registered, by: ${at}`,
  )
  readonly #muxSignals = registry('a mux-complete signal', (name, at) => `${name} already registered, by: ${at}`)
  readonly #destroys = registry('a destroy function', takenBy)
  readonly #checks: Readonly<Record<HealthEndpointName, Registry<Line>>> = { healthz: checks(), livez: checks(), readyz: checks() }
  readonly #inheritedChecks = checks()
  readonly #lines = new Set<Line>()
  readonly #shared: (readonly [name: string, check: Check])[] = []
  /** The life; once it is there, nothing can be added here. */
  #life: Life | undefined

  /** @param livezGraceMs how long `/livez` passes while it runs; default: as the option says */
  addPostStartHook(name: string, run: UserCode, livezGraceMs?: number): Disposable {
    const added = this.#postStartHooks.add(name, checkedFunction('post-start hook', name, run))
    return this.#withLine({ of: 'hook', name, isInherited: false, livezGraceMs }, added)
  }

  hasPostStartHook(name: string): boolean {
    return this.#postStartHooks.has(name)
  }

  addPreShutdownHook(name: string, run: StopCode, options?: PreShutdownHookOptions): Disposable {
    checkedRegistration('pre-shutdown hook', name, run, options)
    return this.#preShutdownHooks.add(name, (life) => void life.addPreShutdownHook(name, run, options))
  }

  addMuxCompleteSignal(name: string, complete: AbortSignal | PromiseLike<unknown>): Disposable {
    checkMuxSignal(name, complete)
    return this.#muxSignals.add(name, (life) => void life.addMuxCompleteSignal(name, complete))
  }

  /** Names of its mux-complete signals, inherited ones too. */
  get muxCompleteSignals(): readonly string[] {
    return this.#muxSignals.entries().map(([name]) => name)
  }

  addDestroy(name: string, run: StopCode, options?: DestroyOptions): Disposable {
    checkedRegistration('destroy function', name, run, options)
    return this.#destroys.add(name, (life) => void life.addDestroy(name, run, options))
  }

  /**
   * Adds a function like {@link addDestroy}; by the life itself, where that has been given the
   * others.
   */
  addDestroyAtAnyTime(name: string, run: StopCode): Disposable {
    return (this.#life ?? this).addDestroy(name, run)
  }

  /**
   * A check of `/readyz` of the server that is run, whichever of a chain adds it, also while it
   * serves: for what several of them have in common, as a store. One of that name is enough.
   */
  addSharedCheck(name: string, check: Check): void {
    if (this.#life === undefined) this.#shared.push([name, check])
    else giveShared(this.#life, name, check)
  }

  /** Whether a life has what was registered. */
  get isGiven(): boolean {
    return this.#life !== undefined
  }

  /** A check on one endpoint or several. */
  addCheck(on: readonly HealthEndpointName[], name: string, check: Check, options?: LivezCheckOptions): Disposable {
    checkedCheckOptions(on.length === 1 && on[0] === 'livez' ? 'livez' : 'readyz', name, options)
    checkFunction(`health check ${show(name)}`, name, check)
    const line: Line = { of: 'check', name, on, given: { check, options } }
    const added = allOrNone(on, (endpoint) => this.#checks[endpoint].add(name, line))
    return this.#withLine(line, added)
  }

  /**
   * Takes over what a delegate has: its hooks and mux-complete signals as they are, and what its
   * healthz says on all three endpoints, but for checks whose names are there. What it destroys
   * stays its own.
   * @throws QuiesceError ERR_DUPLICATE for the name of a hook or signal that is taken
   */
  inherit(from: ApiServerRegistrations): void {
    for (const [name, run] of from.#postStartHooks.entries()) this.#postStartHooks.add(name, run)
    for (const [name, give] of from.#preShutdownHooks.entries()) this.#preShutdownHooks.add(name, give)
    for (const [name, give] of from.#muxSignals.entries()) this.#muxSignals.add(name, give)
    for (const line of from.#lines) {
      if (line.of === 'hook') this.#lines.add({ ...line, isInherited: true })
      else if (line.on.includes('healthz') && !this.#inheritedChecks.has(line.name) && !this.#checks.healthz.has(line.name)) {
        const inherited: Line = { ...line, on: HEALTH_ENDPOINTS }
        this.#inheritedChecks.add(line.name, inherited)
        this.#lines.add(inherited)
      }
    }
  }

  /** Gives everything to the life of the server that is run. Nothing can be added from then on. */
  giveTo(life: ServedLife): void {
    for (const hooks of [this.#preShutdownHooks, this.#muxSignals]) for (const [, give] of hooks.entries()) give(life)
    for (const line of this.#lines) {
      if (line.of === 'check') this.#giveCheck(line, life.health)
      else life.addPostStartHook(line.name, this.#postStartHooks.get(line.name) as UserCode, graceOf(line))
    }
    this.giveDestroysTo(life)
  }

  /**
   * Gives the health of a delegate to the life, whose hooks are run by the server that is run: what
   * its own endpoints say.
   */
  giveHealthTo(life: ServedLife, health: Health): void {
    for (const line of this.#lines) {
      if (line.of === 'check') this.#giveCheck(line, health)
      else if (!life.options.disabledPostStartHooks.has(line.name))
        health.addPostStartHookCheck(line.name, () => life.hasFinishedHook(line.name), graceOf(line))
    }
  }

  /** Gives the destroy functions of a delegate: the rest was inherited. */
  giveDestroysTo(life: Life): void {
    for (const [, give] of this.#destroys.entries()) give(life)
    for (const [name, check] of this.#shared) giveShared(life, name, check)
    for (const each of this.#all) each.close()
    this.#life = life
  }

  /** Gives a check; one of its own is in the place of an inherited one of that name. */
  #giveCheck(line: Line & { readonly of: 'check' }, health: Health): void {
    const { name, given } = line
    const on = line.on.filter((endpoint) => this.#checks[endpoint].get(name) === line || !this.#checks[endpoint].has(name))
    const { delay, ...options } = given.options ?? {}
    if (on.length === HEALTH_ENDPOINTS.length && delay === undefined) return void health.addCheck(name, given.check, options)
    if (on.includes('healthz')) health.addHealthzCheck(name, given.check, options)
    if (on.includes('livez')) health.addLivezCheck(name, given.check, { ...options, ...(delay !== undefined && { delay }) })
    if (on.includes('readyz')) health.addReadyzCheck(name, given.check, options)
  }

  #withLine(line: Line, added: Disposable): Disposable {
    this.#lines.add(line)
    return {
      [Symbol.dispose]: () => {
        added[Symbol.dispose]()
        this.#lines.delete(line)
      },
    }
  }

  get #all(): readonly { close(): void }[] {
    return [this.#postStartHooks, this.#preShutdownHooks, this.#muxSignals, this.#destroys, ...Object.values(this.#checks)]
  }
}
