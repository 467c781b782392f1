import type { StopCode, UserCode } from '../actors/user-code.ts'
import { checkFunction, checkName, isAbortSignal } from '../base/checked.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import { type Duration, parseDuration } from '../base/duration.ts'
import { awaitHint, optionError, QuiesceError, show } from '../base/errors.ts'
import type { HookKind } from '../base/events.ts'
import { checkFields } from '../base/fields.ts'
import { ownFields } from '../base/own-fields.ts'
import { isFieldsOnly, isPromiseLike } from '../base/records.ts'
import { Registry } from '../base/registry.ts'
import type { HookCheckOptions } from '../http/health/health.ts'
import { effectiveWiring } from '../machines/lifecycle.ts'
import type { PlannedDestroy } from '../machines/phases/destroy.ts'
import { findCycle, type PlannedHook, predecessors } from '../machines/phases/pre-shutdown-hooks.ts'
import type { CutSignal, SignalName } from '../machines/signals.ts'
import { mayBeMended, refuseMisspelt, type UserPhase } from '../machines/user-phases.ts'
import type { Mode, PhaseName } from '../machines/wiring.ts'
import type { ResolvedOptions } from '../options/options.ts'

export interface BoundedOptions {
  /** Longest time it may take. Default: the option `hookTimeout`. Must be above 0. */
  readonly timeout?: Duration | undefined
}

export interface PreShutdownHookOptions extends BoundedOptions {
  /**
   * Hooks that have to end first. Without it a hook follows the one registered before it; with it,
   * even empty, it starts as soon as those named have ended.
   */
  readonly after?: readonly string[] | undefined
}

export interface DestroyOptions extends BoundedOptions {
  /**
   * Destroy functions that have to end first: `addDestroy('pool', …, { after: ['queue'] })` closes
   * the queue before the pool it uses.
   */
  readonly after?: readonly string[] | undefined
}

/** A built-in name, which editors complete, or that of a phase of your own. */
type OrOwn<Name extends string> = Name | (string & {})

export interface PhaseOptions extends BoundedOptions {
  /**
   * Signals (`NotAcceptingNewRequest`) or phases (`request-drain`) that come first. Default:
   * `NotAcceptingNewRequest`.
   */
  readonly after?: readonly OrOwn<Exclude<SignalName, CutSignal | 'StartFailed'> | PhaseName>[] | undefined
  /** Phases that wait for this one. Default: `destroy`. */
  readonly before?: readonly OrOwn<PhaseName>[] | undefined
}

interface Bounded {
  readonly run: UserCode
  readonly timeoutMs: number
}

/**
 * Everything a user registers by name before or during a life: hooks, destroy functions, phases,
 * mux-complete signals. The texts of refusals are upstream's. @see kubernetes/apiserver
 * pkg/server/hooks.go
 */
export class Registrations {
  readonly postStartHooks = new Registry<UserCode>({
    of: 'a post-start hook',
    tooLate: (name) => `unable to add ${JSON.stringify(name)} because PostStartHooks have already been called`,
    duplicate: (name, at) => `unable to add ${JSON.stringify(name)} because it was already registered by: ${at}`,
  })
  readonly preShutdownHooks = new Registry<Bounded & { readonly after: readonly string[] | undefined }>(
    {
      of: 'a pre-shutdown hook',
      tooLate: (name) => `unable to add ${JSON.stringify(name)} because PreShutdownHooks have already been called`,
      duplicate: (name, at) => `unable to add ${JSON.stringify(name)} because it is already registered, by: ${at}`,
    },
    () => this.#changed(this),
  )
  readonly destroyFunctions = new Registry<Bounded & { readonly after: readonly string[] }>(
    {
      of: 'a destroy function',
      tooLate: (name) => `unable to add destroy function ${JSON.stringify(name)} because they have already been called`,
      duplicate: (name, at) => `destroy function ${JSON.stringify(name)} already registered by: ${at}`,
    },
    () => this.#changed(this),
  )
  readonly phases = new Registry<Bounded & { readonly after: readonly string[]; readonly before: readonly string[] }>({
    of: 'a phase',
    tooLate: (name) => `unable to add phase ${JSON.stringify(name)} because the life has already begun: add phases before start() or run()`,
    duplicate: (name, at) => `phase ${JSON.stringify(name)} already registered by: ${at}`,
  })
  readonly muxSignals = new Registry<AbortSignal | PromiseLike<unknown>>({
    of: 'a mux-complete signal',
    tooLate: (name) =>
      `unable to add mux-complete signal ${JSON.stringify(name)} because the life has already begun: add it before start() or run()`,
    duplicate: (name, at) => `${name} already registered, by: ${at}`,
  })
  readonly #hookTimeoutMs: number
  readonly #mode: Mode
  readonly #changed: (registrations: Registrations) => void

  constructor(
    { hookTimeoutMs, whileDraining }: Pick<ResolvedOptions, 'hookTimeoutMs' | 'whileDraining'>,
    changed: (registrations: Registrations) => void,
  ) {
    this.#hookTimeoutMs = hookTimeoutMs
    this.#mode = whileDraining
    this.#changed = changed
  }

  /**
   * undefined: the hook is disabled, which is no error, but is said only after what is wrong with
   * it.
   */
  addPostStartHook(name: string, run: UserCode, given: HookCheckOptions, disabled: ReadonlySet<string>): Disposable | undefined {
    const checked = checkedFunction('post-start hook', name, run)
    refuseHookOptions(`post-start hook ${show(name)}`, given)
    return disabled.has(name) ? undefined : this.postStartHooks.add(name, checked)
  }

  addPreShutdownHook(name: string, run: StopCode, given: PreShutdownHookOptions = {}): Disposable {
    const { after, ...bounded } = this.#bounded(checkedRegistration('pre-shutdown hook', name, run, given))
    const added = this.preShutdownHooks.add(name, { ...bounded, after })
    const cycle = findCycle(predecessors(this.preShutdownHooks.entries().map(([other, hook]) => ({ name: other, after: hook.after }))))
    if (!cycle) return added
    added[Symbol.dispose]()
    throw new QuiesceError('ERR_CYCLE', `pre-shutdown hooks wait for each other: ${cycle.join(' -> ')}`, { cycle })
  }

  addDestroy(name: string, run: StopCode, given: DestroyOptions = {}): Disposable {
    const { after = [], ...bounded } = this.#bounded(checkedRegistration('destroy function', name, run, given))
    const added = this.destroyFunctions.add(name, { ...bounded, after })
    const cycle = findCycle(new Map(this.destroyFunctions.entries().map(([other, { after }]) => [other, after])))
    if (!cycle) return added
    added[Symbol.dispose]()
    throw new QuiesceError('ERR_CYCLE', `destroy functions wait for each other: ${cycle.join(' -> ')}`, { cycle })
  }

  addPhase(name: string, run: UserCode, given: PhaseOptions = {}): Disposable {
    const checked = this.#bounded(checkedRegistration('phase', name, run, given))
    const { after = ['NotAcceptingNewRequest'], before = ['destroy'], ...bounded } = checked
    refuseMisspelt(effectiveWiring({ mode: this.#mode }), { name, after, before })
    const added = this.phases.add(name, { ...bounded, after, before })
    const mistake = this.#mistakeInPhases()
    if (!mistake) return added
    added[Symbol.dispose]()
    throw mistake
  }

  addMuxCompleteSignal(name: string, complete: AbortSignal | PromiseLike<unknown>): Disposable {
    checkMuxSignal(name, complete)
    const awaited = isAbortSignal(complete) ? complete : Promise.resolve(complete)
    const added = this.muxSignals.add(name, awaited)
    // It may reject before start() listens to it, which is no crash of the process: start() hears
    // of it all the same.
    if (awaited instanceof Promise) awaited.catch(() => {})
    return added
  }

  /**
   * @throws QuiesceError ERR_UNKNOWN_REFERENCE when an `after` names nothing; checked when the life
   * begins, because they may be added in any order.
   */
  checkReferences(): void {
    checkAfter('pre-shutdown hook', 'hooks', this.preShutdownHooks.entries())
    checkAfter('destroy function', 'functions', this.destroyFunctions.entries())
  }

  /** What the life machine has to know of them. */
  plannedHooks(): PlannedHook[] {
    const entries = this.preShutdownHooks.entries()
    const after = predecessors(entries.map(([name, hook]) => ({ name, after: hook.after })))
    return entries.map(([name, { timeoutMs }]) => ({ kind: 'pre-shutdown', name, timeoutMs, after: after.get(name) ?? [] }))
  }

  plannedDestroyFunctions(): PlannedDestroy[] {
    return this.destroyFunctions.entries().map(([name, { timeoutMs, after }]) => ({
      kind: 'destroy',
      name,
      timeoutMs,
      ...(after.length > 0 && { after }),
    }))
  }

  plannedPhases(): UserPhase[] {
    return this.phases.entries().map(([name, { after, before, timeoutMs }]) => ({ name, after, before, timeoutMs }))
  }

  find(kind: HookKind, name: string): UserCode | undefined {
    switch (kind) {
      case 'post-start':
        return this.postStartHooks.get(name)
      case 'pre-shutdown':
        return this.preShutdownHooks.get(name)?.run
      case 'destroy':
        return this.destroyFunctions.get(name)?.run
      case 'phase':
        return this.phases.get(name)?.run
    }
  }

  /** What is wrong with the phases that no later one can mend. */
  #mistakeInPhases(): unknown {
    try {
      effectiveWiring({ mode: this.#mode, userPhases: this.plannedPhases() })
      return undefined
    } catch (thrown) {
      return mayBeMended(thrown) ? undefined : thrown
    }
  }

  #bounded<T extends { readonly timeoutMs: number | undefined }>({ timeoutMs = this.#hookTimeoutMs, ...rest }: T) {
    return { ...rest, timeoutMs }
  }
}

/** What a registration may name. */
interface Placed {
  readonly after?: readonly string[] | undefined
  readonly before?: readonly string[] | undefined
}

/**
 * What a pre-shutdown hook, a destroy function or a phase was given, before it is known which
 * others there are.
 * @throws QuiesceError ERR_NAME_MISSING, ERR_FUNCTION_MISSING, ERR_OPTION_INVALID
 */
export function checkedRegistration(
  what: Exclude<RegistrationKind, 'post-start hook'>,
  name: string,
  run: unknown,
  given: BoundedOptions & Placed = {},
) {
  checkName(`a ${what}`, name)
  const of = `${what} ${show(name)}`
  const options = checkFields(of, given, what === 'phase' ? ['timeout', 'after', 'before'] : ['timeout', 'after'])
  const after = checkedNames(`after of ${of}`, options.after)
  const before = checkedNames(`before of ${of}`, options.before)
  const { timeout } = options
  const timeoutMs = timeout === undefined ? undefined : parseDuration(`timeout of ${of}`, timeout)
  if (timeoutMs === 0) throw optionError(`timeout of ${of}`, timeout, 'more than 0')
  return { run: checkedFunction(what, name, run), timeoutMs, after, before }
}

/** @throws QuiesceError ERR_NAME_MISSING, ERR_OPTION_INVALID */
export function checkMuxSignal(name: string, complete: unknown): void {
  checkName('a mux-complete signal', name)
  const usable = isAbortSignal(complete) || isPromiseLike(complete)
  if (!usable) throw optionError(`mux-complete signal ${show(name)}`, complete, 'an AbortSignal or a promise')
}

/**
 * What is called at the end of a life only is called when there is a reason: as code that heeds it,
 * every function is a {@link UserCode}.
 */
export function checkedFunction(what: RegistrationKind, name: string, run: unknown): UserCode {
  // Upstream names the missing name first, and has words of its own for a post-start hook only.
  checkName(`a ${what}`, name)
  if (what === 'post-start hook' && (run === undefined || run === null))
    throw new QuiesceError('ERR_FUNCTION_MISSING', `hook func may not be nil: ${show(name)}`, { name, given: run })
  checkFunction(`${what} ${show(name)}`, name, run)
  return run as UserCode
}

/**
 * Refuses what a post-start hook would be given beside its function as its siblings are, and would
 * not heed; the grace of its check is for servers that are built on a life.
 * @throws QuiesceError ERR_OPTION_INVALID
 */
function refuseHookOptions(of: string, given: HookCheckOptions): void {
  if (!isFieldsOnly(given)) throw optionError(`options of ${of}`, given, `${NO_OPTIONS}${awaitHint(given)}`)
  const { livezGraceMs: _, ...others } = ownFields<Readonly<Record<string, unknown>>>(given)
  const [wrong] = Object.entries(others)
  if (wrong !== undefined) throw optionError(`${wrong[0]} of ${of}`, wrong[1], NO_OPTIONS)
}

const NO_OPTIONS = 'none: it may run as long as the server'

type RegistrationKind = 'post-start hook' | 'pre-shutdown hook' | 'destroy function' | 'phase'

function checkAfter(what: string, all: string, entries: readonly [string, { readonly after: readonly string[] | undefined }][]): void {
  const known = entries.map(([name]) => name)
  for (const [name, { after = [] }] of entries) {
    const unknown = after.find((other) => !known.includes(other))
    if (unknown === undefined) continue
    throw new QuiesceError(
      'ERR_UNKNOWN_REFERENCE',
      `${what} ${show(name)}: after names ${show(unknown)}${didYouMean(unknown, known)}, known ${all}: ${known.join(', ')}`,
      { name, unknown },
    )
  }
}

function checkedNames(field: string, names: unknown): readonly string[] | undefined {
  if (names === undefined) return undefined
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
  throw optionError(field, names, 'a list of names')
}
