import type { RequestListener, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { apiserverWording } from '#apiserver/apiserver-wording.ts'
import { kubernetesLongRunning } from '#apiserver/request/long-running.ts'
import type { AuditBackend } from '#src/actors/audit.ts'
import type { Clock } from '#src/base/clock.ts'
import { deferred } from '#src/base/deferred.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { createServerOn } from '#src/create-server.ts'
import { shutdownSignalOf } from '#src/http/shutdown-signal.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import { UPSTREAM_SIGNALS } from '#src/machines/signals.ts'
import type { ServerOptions } from '#src/options/options.ts'
import type { Report } from '#src/report/report.ts'
import { aborted, LifeRig } from './life.ts'
import { type Answer, fresh, KeepAliveClient } from './upstream-client.ts'

/**
 * The common set-up of upstream's graceful termination tests, on plain HTTP/1.1: a delay of 100 ms,
 * a watch grace of 2 s, an audit backend whose shutdown waits for its stop signal and for the test,
 * a handler that echoes, one plain request and one watch that stand still until they are released,
 * and one pre-shutdown hook that waits for the test and then calls the server over the network.
 *
 * Requests, sockets and OS signals (of a fake process) are what tests act and judge by; lifecycle
 * signals tell them when the next step can be taken. The life's own time is virtual unless a test
 * gives another clock, so that "the delay is not over" is a fact and not a race.
 *
 * @see kubernetes/apiserver pkg/server/genericapiserver_graceful_termination_test.go
 * newGenericAPIServer
 */
export const DELAY_MS = 100
export const GRACE_MS = 2_000

/** A quick request, a plain one that stands still, and a watch by upstream's rule for API paths. */
export const ECHO = '/echo?message=hello'
export const PLAIN = '/in-flight'
export const WATCH = '/apis/watches.group/v1/namespaces/foo/bar?watch=true'

/** What they are answered. */
export const ECHOED = { status: 200, body: 'hello' }
export const DONE = { status: 200, body: 'done' }

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

/**
 * As upstream's fake: its shutdown blocks until the stop signal that was given to its `run` is
 * there. Here the test has a say as well.
 */
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
    await aborted(this.#stop)
    await this.shuttingDown.pass()
    this.isShutDown = true
  }
}

/** What stands still in a server, and the routes where it does. */
class Scene {
  readonly audit = new FakeAudit()
  readonly hook = new Roadblock()
  readonly plain = new Roadblock()
  readonly watch = new Roadblock()
  readonly #routes: Readonly<Record<string, RequestListener>>

  constructor(routes: Readonly<Record<string, RequestListener>>) {
    this.#routes = {
      '/echo': (request, response) => {
        response.end(new URL(request.url ?? '/', 'http://upstream.test').searchParams.get('message') ?? '')
      },
      [PLAIN]: (_, response) => answerAfter(this.plain.pass(), response),
      [pathOf(WATCH)]: (request, response) => {
        const untilTold = this.watch.pass().then(() => aborted(shutdownSignalOf(request)))
        return answerAfter(untilTold, response)
      },
      ...routes,
    }
  }

  readonly listener: RequestListener = (request, response) => {
    const route = this.#routes[pathOf(request.url ?? '/')]
    // Returned, as an async listener returns its promise: the life waits for it and answers for
    // what it throws.
    return route ? route(request, response) : void response.writeHead(404).end()
  }
}

const pathOf = (target: string): string => target.split('?', 1)[0] as string

/** Like every handler that takes its time, this one gives up when its client has gone. */
async function answerAfter(ready: Promise<void>, response: ServerResponse): Promise<void> {
  await Promise.race([ready, new Promise<void>((resolve) => response.once('close', resolve))])
  if (!response.destroyed) response.end('done')
}

export interface Setting<C extends Clock> {
  /** Default: a virtual clock. */
  readonly clock?: C
  /**
   * From 0 up to 1, for the share of responses that tell while the ramp is under way. Default: as
   * few as possible.
   */
  readonly random?: () => number
  readonly options?: ServerOptions
  /** Further routes, by path without query. */
  readonly routes?: Readonly<Record<string, RequestListener>>
  /** False leaves out the hook that waits for the test. */
  readonly hook?: boolean
  /** Registers what else belongs to the life. */
  readonly prepare?: (server: UpstreamServer<C>) => void
}

export class UpstreamServer<C extends Clock = VirtualClock> extends LifeRig<C> {
  readonly audit: FakeAudit
  readonly hook: Roadblock
  readonly plain: Roadblock
  readonly watch: Roadblock
  /** What the pre-shutdown hook got for its call. */
  readonly hookAnswer = deferred<Answer>()
  /** Whether its destroy function has run. */
  isDestroyed = false
  readonly #run: Promise<Report>
  #hasEnded = false

  constructor(setting: Setting<C>) {
    const { clock = new VirtualClock() as Clock as C, random = () => 0.999_999, options, routes = {}, hook = true, prepare } = setting
    const scene = new Scene(routes)
    super({ clock }, (host, logger): Lifecycle => {
      const defaults = {
        platform: 'unknown',
        shutdownDelay: DELAY_MS,
        // As upstream, which has none (V22); test/life/last-call-clients.test.ts is about ours.
        lastCall: 0,
        watchGrace: GRACE_MS,
        requestTimeout: '60s',
        hookTimeout: options?.deadline ?? '1m',
        // Nothing is ever cut by it.
        deadline: '5m',
        exit: 'natural',
        wording: apiserverWording,
        longRunning: kubernetesLongRunning,
      } as const
      const { audit, listener } = scene
      return createServerOn({ ...host, random }, { listener }, { ...defaults, port: 0, host: '127.0.0.1', audit, logger, ...options })
    })
    this.audit = scene.audit
    this.hook = scene.hook
    this.plain = scene.plain
    this.watch = scene.watch
    // Before the life is ended by the test kit: what the test has left standing must not hold it
    // up.
    onTestFinished(() => this.#releaseAll())
    if (hook) this.life.addPreShutdownHook('calls-the-server', () => this.#callServer())
    this.life.addDestroy('notes-it', () => {
      this.isDestroyed = true
    })
    prepare?.(this)
    this.#run = this.life.run().finally(() => {
      this.#hasEnded = true
    })
    this.#run.catch(() => undefined)
  }

  /** What Run returns. */
  get ended(): Promise<Report> {
    return this.#run
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** The end, when nothing of the set-up stands in its way any more and it takes no time. */
  async endNow(): Promise<Report> {
    this.#releaseAll()
    const { clock } = this
    // A timer of no duration is a timer all the same.
    if (clock instanceof VirtualClock) while (!this.#hasEnded) await clock.advance(0)
    return this.#run
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

  /** Upstream's stop; in production it is a SIGTERM that cancels the context of Run. */
  stop(): void {
    this.process.signal('SIGTERM')
  }

  /** Upstream's signals of the stop, in the order fired. */
  get stopSignals(): string[] {
    const upstreams = this.signals.filter((name) => Object.hasOwn(UPSTREAM_SIGNALS, name))
    return upstreams.slice(upstreams.indexOf('ShutdownInitiated'))
  }

  /**
   * The plain request and the watch, both standing in their handlers, on connections of one client
   * that reuses them.
   */
  async inFlight(): Promise<{ readonly client: KeepAliveClient; readonly plain: Promise<Answer>; readonly watch: Promise<Answer> }> {
    const client = this.client()
    const [plain, watch] = [client.get(PLAIN), client.get(WATCH)]
    // Judged when they are awaited; until then a failure is no unhandled rejection.
    for (const answer of [plain, watch]) answer.catch(() => undefined)
    await Promise.all([this.plain.reached, this.watch.reached])
    return { client, plain, watch }
  }

  #releaseAll(): void {
    for (const block of [this.hook, this.plain, this.watch, this.audit.shuttingDown]) block.release()
  }

  async #callServer(): Promise<void> {
    await this.hook.pass()
    const answer = fresh(this.port, '/echo?message=from-the-hook')
    answer.then(this.hookAnswer.resolve, this.hookAnswer.reject)
    await answer
  }
}

/** A server of the common set-up that serves. It ends with the test. */
export async function serveUpstream<C extends Clock = VirtualClock>(setting: Setting<C> = {}): Promise<UpstreamServer<C>> {
  const server = new UpstreamServer(setting)
  await Promise.race([server.fired('PostStartHooksLaunched'), server.ended])
  return server
}
