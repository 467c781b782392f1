import { isOwnAbort } from '../../base/abort-error.ts'
import { checkFunction, checkName } from '../../base/checked.ts'
import type { Clock } from '../../base/clock.ts'
import { deferred } from '../../base/deferred.ts'
import { QuiesceError, show } from '../../base/errors.ts'
import type { LifecycleFact, Straggler } from '../../base/events.ts'
import type { WaitGroup } from './wait-group.ts'

/** What held work is given. */
export interface HoldContext {
  /** Aborted when the request drain is cut: come to an end. */
  readonly signal: AbortSignal
}

interface Hold {
  readonly name: string
  readonly since: number
  readonly ending: AbortController
}

/**
 * The number of refused holds that are named: a broker that goes on delivering may make thousands.
 */
const REFUSED_NAMED_MAX = 20

/** Work that is not HTTP and joins the request drain: queue jobs, scheduled tasks, messages. */
export class Holds {
  readonly #clock: Clock
  readonly #requests: WaitGroup
  readonly #record: (fact: LifecycleFact) => void
  readonly #all = new Set<Hold>()
  #refused = 0
  #none: ReturnType<typeof deferred<void>> | undefined
  /** The runs of recurring work that are under way. */
  #runs = 0
  #isCut = false

  constructor(clock: Clock, requests: WaitGroup, record: (fact: LifecycleFact) => void) {
    this.#clock = clock
    this.#requests = requests
    this.#record = record
  }

  /** How many were refused because the drain had begun. */
  get refused(): number {
    return this.#refused
  }

  get count(): number {
    return this.#all.size
  }

  /**
   * Has the request drain wait for `work`, and returns what it returns. Rejects with what `work`
   * throws, and with ERR_NOT_ACCEPTING, without having called it, once the drain has begun. Left
   * alone, that is no unhandled rejection, nor is work that ends by its signal: the end of a life
   * must not crash the process.
   */
  run<T>(name: string, work: (context: HoldContext) => T | PromiseLike<T>): Promise<T> {
    const { promise, resolve, reject } = deferred<T>()
    const ending = new AbortController()
    this.#run(name, ending, work).then(resolve, (thrown: unknown) => {
      if (isRefusal(thrown) || isOwnAbort(thrown, ending.signal)) promise.catch(() => {})
      reject(thrown)
    })
    return promise
  }

  /**
   * Has the request drain wait until the result is disposed of. A second disposal does nothing.
   * @throws QuiesceError ERR_NOT_ACCEPTING once the drain has begun
   */
  take(name: string): Disposable {
    const hold = this.#begin(name, new AbortController())
    return { [Symbol.dispose]: () => this.#end(hold) }
  }

  /**
   * Has the request drain wait for work that has begun already, also while it drains, as long as
   * anything else is waited for; later it goes on unseen, which is reported as a refused hold is.
   * @param work whose failure is its owner's business
   */
  join(name: string, work: PromiseLike<unknown>): void {
    if (this.#requests.tryAdd() || this.#requests.tryAddLate()) {
      const hold = this.#add(name, new AbortController())
      const end = (): void => this.#end(hold)
      Promise.resolve(work).then(end, end)
    } else this.#refuse(name, 'is not waited for: the drain is over')
  }

  /** Resolves when none is left; undefined when there is none. */
  over(): Promise<void> | undefined {
    if (this.#all.size > 0) this.#none ??= deferred<void>()
    return this.#none?.promise
  }

  /**
   * Runs recurring work like {@link run}, which is also let in while a drain waits for anything
   * else: a lock has to be renewed as long as the work that it is for goes on. Runs alone would
   * never let a drain end.
   * @returns undefined, without having called `work`, when it is not let in
   */
  async recur(name: string, work: (context: HoldContext) => unknown): Promise<unknown> {
    const isLetIn = this.#requests.tryAdd() || (!this.#isCut && this.#requests.count > this.#runs && this.#requests.tryAddLate())
    if (!isLetIn) return undefined
    this.#runs++
    const hold = this.#add(name, new AbortController())
    try {
      return await work({ signal: hold.ending.signal })
    } finally {
      this.#runs--
      this.#end(hold)
    }
  }

  /** Tells all of them to come to an end. */
  cut(): void {
    this.#isCut = true
    for (const { name, ending } of this.#all) ending.abort(new QuiesceError('ERR_ABORTED', `"${name}" is out of time: the drain was cut`))
  }

  stragglers(): Straggler[] {
    const now = this.#clock.now()
    return Array.from(this.#all, ({ name, since }) => ({ name, ageMs: now - since }))
  }

  async #run<T>(name: string, ending: AbortController, work: (context: HoldContext) => T | PromiseLike<T>): Promise<T> {
    checkFunction(`work of hold(${show(name)})`, name, work)
    const hold = this.#begin(name, ending)
    try {
      return await work({ signal: ending.signal })
    } finally {
      this.#end(hold)
    }
  }

  #begin(name: string, ending: AbortController): Hold {
    checkName('a hold', name)
    if (this.#requests.tryAdd()) return this.#add(name, ending)
    this.#refuse(`hold ${show(name)}`, 'was refused and its work not begun: the server is draining')
    throw new QuiesceError('ERR_NOT_ACCEPTING', `hold("${name}"): the server is draining`, { name })
  }

  #add(name: string, ending: AbortController): Hold {
    const hold = { name, since: this.#clock.now(), ending }
    this.#all.add(hold)
    return hold
  }

  /** What was refused may be lost, and who gave it may not look at the answer. */
  #refuse(what: string, why: string): void {
    this.#refused++
    if (this.#refused <= REFUSED_NAMED_MAX) this.#record({ type: 'warning', message: `${what} ${why}` })
    if (this.#refused === REFUSED_NAMED_MAX) this.#record({ type: 'warning', message: 'further refused holds are counted and not named' })
  }

  #end(hold: Hold): void {
    if (!this.#all.delete(hold)) return
    this.#requests.done()
    if (this.#all.size > 0) return
    this.#none?.resolve()
    this.#none = undefined
  }
}

const isRefusal = (thrown: unknown): boolean => thrown instanceof QuiesceError && thrown.code === 'ERR_NOT_ACCEPTING'
