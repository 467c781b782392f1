import { type Actor, createActor, fromCallback, fromPromise } from 'xstate'
import { type Clock, checkArguments, deferred, type InspectedRoot, systemClock, toError, withFields } from '../engine.ts'
import type { KeyValueStore, StoreCondition, StoreEngine } from './key-value-store.ts'
import { StoreError, storeClosed } from './store-error.ts'
import { type StoreEvent, storeMachine } from './store-machine.ts'

/** `open` has three: everything, all but writes, nothing. */
export type StoreState = 'unopened' | 'opening' | 'waiting' | 'refused' | 'ready' | 'degraded' | 'lost' | 'closing' | 'closed'

/** Longest time that a request waits for a store that is being opened. */
const OPEN_WAIT_MS = 10_000

const AN_ENGINE = withFields('an engine: { name, open }', 'name', 'open')

/**
 * A store with its life: it opens when it is first wanted, tries again when that fails, and closes
 * when the last of its holders has ended. `state` says where it is, in the words of its machine.
 * @throws QuiesceError ERR_OPTION_INVALID
 */
export function createStore(engine: StoreEngine, clock: Clock = systemClock): Store {
  checkArguments('createStore(engine)', [engine, AN_ENGINE])
  return new Store(engine, clock)
}

export class Store {
  readonly name: string
  /** What its check of `/readyz` is called; undefined: it has none. */
  readonly check: string | undefined
  readonly #clock: Clock
  readonly #actor: Actor<typeof storeMachine>
  readonly #closed: Promise<void>
  #opened: KeyValueStore | undefined
  #why: Error | undefined
  #holders = 0
  #closing: Promise<void> | undefined

  constructor(engine: StoreEngine, clock: Clock) {
    this.name = engine.name
    this.check = engine.check
    this.#clock = clock
    const machine = storeMachine.provide({
      actors: {
        engine: fromCallback<StoreEvent>(({ sendBack }) => this.#open(engine, sendBack)),
        close: fromPromise<void>(() => this.#closeOpened()),
      },
    })
    this.#actor = createActor(machine, { clock, id: machine.id })
    this.#closed = new Promise((resolve) => {
      this.#actor.subscribe({ complete: resolve })
    })
    this.#actor.start()
  }

  get state(): StoreState {
    const { value } = this.#actor.getSnapshot()
    return (typeof value === 'string' ? value : value.open) as StoreState
  }

  /** Why it is not ready, in the states that have a reason. */
  get error(): Error | undefined {
    return this.#why
  }

  /**
   * What is kept, now.
   * @throws StoreError unavailable as long as it is not open, closed
   */
  use(): KeyValueStore {
    if (this.#closing !== undefined) throw storeClosed()
    if (this.#opened === undefined) this.#actor.send({ type: 'open' })
    if (this.#opened !== undefined) return this.#opened
    throw new StoreError('unavailable', `the storage ${this.name} is not open${because(this.#why)}`, { state: this.state }, this.#why)
  }

  /**
   * Opens the store like {@link use}, and waits a while for a store that is being opened: what a
   * program writes when it starts is not lost because its store takes longer.
   */
  opened(): KeyValueStore | Promise<KeyValueStore> {
    if (this.#opened !== undefined || this.#closing !== undefined) return this.use()
    this.#actor.send({ type: 'open' })
    return this.#opened ?? this.#whenOpen()
  }

  async #whenOpen(): Promise<KeyValueStore> {
    const { promise, resolve } = deferred<void>()
    const bound = this.#clock.setTimeout(resolve, OPEN_WAIT_MS)
    const watching = this.#actor.subscribe(() => {
      if (this.#opened !== undefined || this.state === 'refused' || this.state === 'closed') resolve()
    })
    try {
      await promise
    } finally {
      this.#clock.clearTimeout(bound)
      watching.unsubscribe()
    }
    return this.use()
  }

  /**
   * Opens it when it has not been opened yet.
   * @throws StoreError while it is anything but ready
   */
  ready(): void {
    this.use()
    const { state } = this
    if (state === 'ready') return
    throw new StoreError('unavailable', `the storage ${this.name} is ${state}${because(this.#why)}`, { state }, this.#why)
  }

  /**
   * Calls back with each state that it comes to, and why it is in one that is not ready; and with
   * one that it stays in for another reason.
   */
  onState(hear: (state: StoreState, why: Error | undefined) => void): void {
    let last = this.state
    let lastWhy = this.#why?.message
    this.#actor.subscribe(() => {
      const { state } = this
      const message = this.#why?.message
      if (state === last && message === lastWhy) return
      last = state
      lastWhy = message
      hear(state, this.#why)
    })
  }

  /**
   * Adds a user of the store. What this returns ends that; the store closes with the last of them.
   */
  hold(): () => Promise<void> {
    this.#holders++
    let isHeld = true
    return async () => {
      if (isHeld) this.#holders--
      isHeld = false
      if (this.#holders === 0) await this.close()
    }
  }

  /**
   * Closes the store, whatever holds it: nothing is written after it. A second call waits for the
   * first.
   */
  close(): Promise<void> {
    this.#closing ??= this.#closed
    this.#actor.send({ type: 'close' })
    return this.#closing
  }

  /** The actors of its life, for those who watch it. */
  actors(): readonly InspectedRoot[] {
    return [this.#actor]
  }

  /** An open that is under way, which may still end with a store to close. */
  #late: Promise<void> = Promise.resolve()

  #open(engine: StoreEngine, sendBack: (event: StoreEvent) => void): (() => void) | undefined {
    const over = new AbortController()
    let condition: StoreCondition = { is: 'ready' }
    const onCondition = (now: StoreCondition): void => {
      condition = now
      if (this.#opened === undefined) return
      this.#why = now.is === 'ready' ? undefined : now.error
      // Sent to the machine and not back: what opens it is over by then.
      this.#actor.send({ type: now.is === 'ready' ? 'recovered' : now.is })
    }
    const opened = (store: KeyValueStore): void => {
      this.#opened = store
      this.#why = undefined
      sendBack({ type: 'opened' })
      // What it has said meanwhile comes behind that.
      if (condition.is !== 'ready') onCondition(condition)
    }
    const failed = (thrown: unknown): void => {
      this.#why = toError(thrown)
      sendBack({ type: 'failed', isFinal: thrown instanceof StoreError && thrown.reason === 'damaged' })
    }
    try {
      const opening = engine.open({ signal: over.signal, onCondition })
      if ('then' in opening) {
        this.#late = opening.then(opened, failed)
        return () => {
          if (this.#opened === undefined) over.abort()
        }
      }
      opened(opening)
    } catch (thrown) {
      failed(thrown)
    }
    return undefined
  }

  async #closeOpened(): Promise<void> {
    await this.#late
    await this.#opened?.close()
  }
}

const because = (error: Error | undefined): string => (error === undefined ? '' : `: ${error.message}`)
