import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import type { Clock } from '../../src/actors/clock.ts'
import { shutdownSignalOf } from '../../src/actors/exchange.ts'
import { createServerOn } from '../../src/create-server.ts'
import { deferred } from '../../src/deferred.ts'
import type { LifecycleEvent } from '../../src/events.ts'
import type { Lifecycle } from '../../src/lifecycle.ts'
import { UPSTREAM_SIGNALS, type UpstreamSignal } from '../../src/machines/signals.ts'
import type { AuditBackend, ServerOptions } from '../../src/options.ts'
import type { Report } from '../../src/report.ts'
import { FakeProcess } from '../../src/testing/fake-process.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { type Answer, fresh, KeepAliveClient } from './upstream-client.ts'

/**
 * The common set-up of upstream's graceful termination tests, on plain HTTP/1.1: a delay of 100 ms, a watch grace of 2 s, an
 * audit backend whose shutdown waits for its stop signal and for the test, a handler that echoes, one plain request and one
 * watch that stand still until they are released, and one pre-shutdown hook that waits for the test and then calls the
 * server over the network.
 *
 * Requests, sockets and OS signals (of a fake process) are what tests act and judge by; lifecycle signals tell them when
 * the next step can be taken. The life's own time is virtual unless a test gives another clock, so that "the delay is not
 * over" is a fact and not a race.
 *
 * @see kubernetes/apiserver pkg/server/genericapiserver_graceful_termination_test.go newGenericAPIServer
 */
export const DELAY_MS = 100
export const GRACE_MS = 2_000

/** A plain request and a watch by upstream's rule for API paths. */
export const PLAIN = '/in-flight'
export const WATCH = '/apis/watches.group/v1/namespaces/foo/bar?watch=true'

/** Something that stands still: it says when it was reached, and goes on when it is released. */
export class Roadblock {
  readonly #reached = deferred<void>()
  readonly #released = deferred<void>()

  get reached(): Promise<void> {
    return this.#reached.promise
  }

  release(): void {
    this.#released.resolve()
  }

  async pass(): Promise<void> {
    this.#reached.resolve()
    await this.#released.promise
  }
}

/** Of upstream: its `Shutdown` blocks until the channel given to its `Run` is closed. Here the test has a say as well. */
class FakeAudit implements AuditBackend {
  readonly shuttingDown = new Roadblock()
  isShutDown = false
  #stop: AbortSignal | undefined

  get isStopped(): boolean {
    return this.#stop?.aborted ?? false
  }

  run({ signal }: { readonly signal: AbortSignal }): void {
    this.#stop = signal
  }

  async shutdown(): Promise<void> {
    if (!this.#stop) throw new Error('shutdown() without run()')
    await untilAborted(this.#stop)
    await this.shuttingDown.pass()
    this.isShutDown = true
  }
}

export interface Setting<C extends Clock> {
  /** Default: a virtual clock. */
  readonly clock?: C
  /** From 0 up to 1, whether a response tells while the ramp is under way. Default: never. */
  readonly random?: () => number
  readonly options?: ServerOptions
  /** Further routes, by path without query. */
  readonly routes?: Readonly<Record<string, RequestListener>>
  /** False leaves out the hook that waits for the test. */
  readonly hook?: boolean
  /** More that belongs to the life. */
  readonly prepare?: (life: Lifecycle) => void
}

export class UpstreamServer<C extends Clock = VirtualClock> {
  readonly clock: C
  readonly process = new FakeProcess()
  readonly life: Lifecycle
  readonly audit = new FakeAudit()
  readonly hook = new Roadblock()
  readonly plain = new Roadblock()
  readonly watch = new Roadblock()
  /** What the pre-shutdown hook got for its call. */
  readonly hookAnswer = deferred<Answer>()
  readonly events: LifecycleEvent[] = []
  readonly #routes: Readonly<Record<string, RequestListener>>
  #run: Promise<Report> | undefined
  #report: Report | undefined

  constructor({ clock, random = () => 0.999_999, options = {}, routes = {}, hook = true, prepare = () => undefined }: Setting<C>) {
    this.clock = clock ?? (new VirtualClock() as Clock as C)
    this.#routes = { ...this.#ownRoutes(), ...routes }
    const host = { clock: this.clock, random, process: this.process.asHostProcess() }
    this.life = createServerOn(
      host,
      { listener: this.#serve },
      {
        port: 0,
        host: '127.0.0.1',
        shutdownDelay: DELAY_MS,
        watchGrace: GRACE_MS,
        // So far away that nothing is ever cut by it.
        deadline: '10m',
        hookTimeout: '1m',
        requestTimeout: '60s',
        audit: this.audit,
        logger: false,
        exit: 'natural',
        ...options,
      },
    )
    this.life.events$.subscribe((event) => this.events.push(event))
    if (hook) this.life.addPreShutdownHook('calls-the-server', () => this.#callServer())
    prepare(this.life)
  }

  /** Serves when this resolves. */
  async start(): Promise<this> {
    this.#run = this.life.run().then((report) => {
      this.#report = report
      return report
    })
    this.#run.catch(() => undefined)
    await Promise.race([this.fired('PostStartHooksLaunched'), this.#run])
    return this
  }

  get port(): number {
    return (this.life.addresses[0] as { port: number }).port
  }

  get adminPort(): number {
    const listening = this.events.find((event) => event.type === 'listening' && event.admin)
    return (listening as { port: number }).port
  }

  client(): KeepAliveClient {
    return new KeepAliveClient(this.port)
  }

  /** A request on a new connection. */
  fresh(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return fresh(this.port, path, { headers })
  }

  /** Upstream's stop; in production a SIGTERM is what cancels the context of Run. */
  stop(): void {
    this.process.signal('SIGTERM')
  }

  hasFired(name: UpstreamSignal | string): boolean {
    return this.life.signal(name).aborted
  }

  fired(name: UpstreamSignal | string): Promise<void> {
    return untilAborted(this.life.signal(name))
  }

  /** Upstream's signals in the order fired. */
  get signals(): string[] {
    return this.events.flatMap((event) => (event.type === 'signal' && Object.hasOwn(UPSTREAM_SIGNALS, event.name) ? [event.name] : []))
  }

  /** When a signal fired, in milliseconds since the stop. */
  sinceStop(name: UpstreamSignal | string): number | undefined {
    const at = (signal: string): number | undefined => this.events.find((event) => event.type === 'signal' && event.name === signal)?.at
    const [stop, fired] = [at('StopRequested'), at(name)]
    return stop === undefined || fired === undefined ? undefined : fired - stop
  }

  /** What Run returns. */
  get ended(): Promise<Report> {
    if (!this.#run) throw new Error('not started')
    return this.#run
  }

  get hasEnded(): boolean {
    return this.#report !== undefined
  }

  /** The plain request and the watch, both standing in their handlers, on connections of a client that reuses them. */
  async inFlight(): Promise<{ readonly client: KeepAliveClient; readonly plain: Promise<Answer>; readonly watch: Promise<Answer> }> {
    const client = this.client()
    const [plain, watch] = [client.get(PLAIN), client.get(WATCH)]
    // Judged when they are awaited; until then a failure is no unhandled rejection.
    for (const answer of [plain, watch]) answer.catch(() => undefined)
    await Promise.all([this.plain.reached, this.watch.reached])
    return { client, plain, watch }
  }

  /** Ends what the test has left standing. */
  async dispose(): Promise<void> {
    for (const block of [this.hook, this.plain, this.watch, this.audit.shuttingDown]) block.release()
    if (!this.#run || this.hasEnded) return
    this.life.send({ type: 'stop.requested', reason: { kind: 'stop', reason: 'the test is over' } })
    const { clock } = this
    // Real time is a few hundred milliseconds then; virtual time has to be moved.
    if (clock instanceof VirtualClock) while (!this.hasEnded && (await clock.runToNext()));
    await this.#run.catch(() => undefined)
  }

  readonly #serve: RequestListener = (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] as string
    const route = this.#routes[path]
    // Returned, as an async listener returns its promise: the life waits for it and answers for what it throws.
    if (route) return route(request, response)
    response.writeHead(404).end()
  }

  #ownRoutes(): Record<string, RequestListener> {
    return {
      '/echo': (request, response) => {
        response.end(new URL(request.url ?? '/', 'http://upstream.test').searchParams.get('message') ?? '')
      },
      [PLAIN]: (_, response) => answerAfter(this.plain.pass(), response),
      [WATCH.split('?', 1)[0] as string]: (request, response) => answerAfter(this.#watchUntilTold(request), response),
    }
  }

  async #watchUntilTold(request: IncomingMessage): Promise<void> {
    await this.watch.pass()
    await untilTold(request)
  }

  async #callServer(): Promise<void> {
    await this.hook.pass()
    const answer = fresh(this.port, '/echo?message=from-the-hook')
    answer.then(this.hookAnswer.resolve, this.hookAnswer.reject)
    await answer
  }
}

/** Waits until the handler of `request` is told to come to its end. */
export const untilTold = (request: IncomingMessage): Promise<void> => untilAborted(shutdownSignalOf(request))

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

async function answerAfter(ready: Promise<void>, response: ServerResponse): Promise<void> {
  await ready
  response.end('done')
}

/** A server of the common set-up that serves; it ends with the test. */
export async function serveUpstream<C extends Clock = VirtualClock>(setting: Setting<C> = {}): Promise<UpstreamServer<C>> {
  const server = new UpstreamServer(setting)
  onTestFinished(() => server.dispose())
  return server.start()
}
