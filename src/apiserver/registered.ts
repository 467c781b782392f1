import type { StopCode, UserCode } from '../actors/user-code.ts'
import { show } from '../base/errors.ts'
import { Registry } from '../base/registry.ts'
import type { LivezCheckOptions } from '../http/health/health.ts'
import type { Check, CheckOptions } from '../http/health/health-check.ts'
import type { Life } from '../lifecycle/life.ts'
import type { DestroyOptions, PreShutdownHookOptions } from '../lifecycle/registrations.ts'

/** Gives one registration to the life of the server that is run. */
type Give = (life: Life) => void

interface GivenCheck {
  readonly check: Check
  readonly options?: LivezCheckOptions | undefined
}

const registry = <T = Give>(of: string) =>
  new Registry<T>({
    of,
    tooLate: (name) => `unable to add ${show(name)}: the server has been prepared`,
    duplicate: (name, at) => `unable to add ${show(name)} because it was already registered by: ${at}`,
  })

/**
 * What was registered on one server of a chain, until the server that is run is prepared and all of
 * it becomes part of that one's life.
 * @see kubernetes/apiserver pkg/server/config.go completedConfig.New
 */
export class Registered {
  readonly #postStartHooks = registry('a post-start hook')
  readonly #preShutdownHooks = registry('a pre-shutdown hook')
  readonly #muxSignals = registry('a mux-complete signal')
  readonly #destroys = registry('a destroy function')
  readonly #healthz = registry<GivenCheck>('a health check')
  readonly #readyz = registry<GivenCheck>('a health check')
  readonly #livez = registry<GivenCheck>('a health check')
  /** Of delegates. */
  readonly #everywhere = registry<GivenCheck>('a health check')

  addPostStartHook(name: string, run: UserCode): Disposable {
    return this.#postStartHooks.add(name, (life) => void life.addPostStartHook(name, run))
  }

  addPreShutdownHook(name: string, run: StopCode, options?: PreShutdownHookOptions): Disposable {
    return this.#preShutdownHooks.add(name, (life) => void life.addPreShutdownHook(name, run, options))
  }

  addMuxCompleteSignal(name: string, complete: AbortSignal | PromiseLike<unknown>): Disposable {
    return this.#muxSignals.add(name, (life) => void life.addMuxCompleteSignal(name, complete))
  }

  addDestroy(name: string, run: StopCode, options?: DestroyOptions): Disposable {
    return this.#destroys.add(name, (life) => void life.addDestroy(name, run, options))
  }

  addHealthzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#healthz.add(name, { check, options })
  }

  addReadyzCheck(name: string, check: Check, options?: CheckOptions): Disposable {
    return this.#readyz.add(name, { check, options })
  }

  addLivezCheck(name: string, check: Check, options?: LivezCheckOptions): Disposable {
    return this.#livez.add(name, { check, options })
  }

  /**
   * Takes over what a delegate has: its hooks and mux-complete signals as they are, its healthz
   * checks on all three endpoints, but for those whose names are there. What it destroys stays its
   * own.
   * @throws QuiesceError ERR_DUPLICATE for the name of a hook or signal that is taken
   */
  inherit(from: Registered): void {
    for (const [name, give] of from.#postStartHooks.entries()) this.#postStartHooks.add(name, give)
    for (const [name, give] of from.#preShutdownHooks.entries()) this.#preShutdownHooks.add(name, give)
    for (const [name, give] of from.#muxSignals.entries()) this.#muxSignals.add(name, give)
    for (const [name, check] of [...from.#everywhere.entries(), ...from.#healthz.entries()])
      if (!this.#everywhere.has(name)) this.#everywhere.add(name, check)
  }

  /** Gives everything to the life of the server that is run. Nothing can be added from then on. */
  giveTo(life: Life): void {
    for (const hooks of [this.#postStartHooks, this.#preShutdownHooks, this.#muxSignals]) for (const [, give] of hooks.entries()) give(life)
    for (const [name, { check, options }] of this.#healthz.entries()) life.addHealthzCheck(name, check, options)
    for (const [name, { check, options }] of this.#readyz.entries()) life.addReadyzCheck(name, check, options)
    for (const [name, { check, options }] of this.#livez.entries()) life.addLivezCheck(name, check, options)
    for (const [name, { check, options }] of this.#everywhere.entries())
      if (!this.#healthz.has(name)) life.addHealthCheck(name, check, options)
    this.giveDestroysTo(life)
  }

  /** Of a delegate: the rest was inherited. */
  giveDestroysTo(life: Life): void {
    for (const [, give] of this.#destroys.entries()) give(life)
    for (const each of this.#all) each.close()
  }

  get #all(): readonly { close(): void }[] {
    const hooks = [this.#postStartHooks, this.#preShutdownHooks, this.#muxSignals, this.#destroys]
    return [...hooks, this.#healthz, this.#readyz, this.#livez, this.#everywhere]
  }
}
