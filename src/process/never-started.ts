import type { Server } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import type { Clock } from '../base/clock.ts'
import { type EnvironmentVariables, variable } from '../base/look.ts'
import { type StandardError, sayWithCode } from '../log/terminal.ts'

/** Says when a process has nothing left to do, and how it would end: the process. */
export interface EndSource {
  readonly stderr: StandardError
  readonly env: EnvironmentVariables
  listenerCount(event: string): number
  on(event: 'beforeExit', listener: () => void): unknown
  off(event: 'beforeExit', listener: () => void): unknown
}

const ofSources = new WeakMap<EndSource, Unstarted>()

function of(source: EndSource): Unstarted {
  const unstarted = ofSources.get(source) ?? new Unstarted(source)
  ofSources.set(source, unstarted)
  return unstarted
}

/**
 * A life was created, which is still to be started. A process that comes to its end, and no life of
 * it was ever begun, says so: it has served nothing, with exit code 0, and nothing else says so.
 * Keeps neither the process nor the life.
 */
export const lifeCreated = (source: EndSource): void => of(source).created()

/** How long a program has to begin the life of a server, which may take its own preparations. */
const PATIENCE_MS = 10_000

/**
 * A life was put around these servers, which is still to be started. One that listens keeps the
 * process, which therefore comes to no end of its own: SIGTERM ends it in the middle of everything,
 * as if there were no life. That is said while there is time to mend it, once: when {@link
 * PATIENCE_MS} have passed, a server listens, no life of the process was begun and nothing in it
 * listens to SIGTERM. Not in a test runner, whose servers need no life, nor in a worker thread,
 * which gets no signals. Keeps neither the process nor the servers.
 */
export const serversAttached = (source: EndSource, clock: Clock, servers: readonly Server[]): void => of(source).attached(clock, servers)

/**
 * A life was checked without being started, as a model checker does: such a life may be there for
 * that.
 */
export const lifeOnlyChecked = (source: EndSource): void => of(source).onlyChecked()

/**
 * A life of this process was made, which is to be started: {@link serversAttached} for one around
 * servers, {@link lifeCreated} for others. What is returned takes back that it is, for one that was
 * made to be checked. A server of the user's may never have to listen, as where tests inject
 * requests: one that does is another matter.
 */
export function expectStart(
  source: EndSource,
  clock: Clock,
  adopted: readonly { readonly server: Server }[] | undefined,
): { isForCheck(): void } | undefined {
  if (adopted) {
    serversAttached(
      source,
      clock,
      adopted.map(({ server }) => server),
    )
    return undefined
  }
  lifeCreated(source)
  let isExpected = true
  return {
    isForCheck: () => {
      if (isExpected) lifeOnlyChecked(source)
      isExpected = false
    },
  }
}

/** A life has begun: those of the process that have not are left so on purpose. */
export const lifeBegun = (source: EndSource): void => of(source).begun()

class Unstarted {
  readonly #source: EndSource
  /** A number is enough: a life that is not used any more was not started either. */
  #lives = 0
  #isOver = false
  #attached: readonly WeakRef<Server>[] = []
  #isLooking = false

  constructor(source: EndSource) {
    this.#source = source
  }

  created(): void {
    if (this.#isOver) return
    if (this.#lives === 0) this.#source.on('beforeExit', this.#say)
    this.#lives++
  }

  onlyChecked(): void {
    if (this.#isOver) return
    this.#lives--
    if (this.#lives === 0) this.#source.off('beforeExit', this.#say)
  }

  attached(clock: Clock, servers: readonly Server[]): void {
    if (this.#isOver || isInTestRunner(this.#source) || !isMainThread) return
    this.#attached = [...this.#attached, ...servers.map((server) => new WeakRef(server))]
    if (this.#isLooking) return
    this.#isLooking = true
    const timer = clock.setTimeout(() => this.#look(), PATIENCE_MS)
    ;(timer as { unref?: () => void }).unref?.()
  }

  begun(): void {
    this.#isOver = true
    this.#source.off('beforeExit', this.#say)
  }

  #look(): void {
    const listen = this.#attached.some((server) => server.deref()?.listening)
    this.#isLooking = false
    this.#attached = []
    if (!listen || this.#isOver || this.#source.listenerCount('SIGTERM') > 0) return
    this.#isOver = true
    sayWithCode(
      this.#source.stderr,
      'WARN_NOT_STARTED',
      'a server listens, but run() was not called on its lifecycle: SIGTERM will drop the requests in flight. Call run()',
    )
  }

  readonly #say = (): void => {
    // What is said may take a turn more, after which the process comes to its end again.
    this.#source.off('beforeExit', this.#say)
    const [what, it] = this.#lives === 1 ? ['a lifecycle was', 'it'] : [`${this.#lives} lifecycles were`, 'them']
    sayWithCode(
      this.#source.stderr,
      'WARN_NOT_STARTED',
      `${what} created and never started, so nothing was served: call run() on ${it}, or start()`,
    )
  }
}

const isInTestRunner = ({ env }: EndSource): boolean =>
  variable(env, 'NODE_ENV') === 'test' || variable(env, 'NODE_TEST_CONTEXT') !== undefined
