import type { RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import type { AuditBackend } from '#src/actors/audit.ts'
import type { Host } from '#src/actors/host.ts'
import { nodeServers } from '#src/actors/server-factories.ts'
import { type AttachableServer, attachLifecycleOn } from '#src/attach.ts'
import { type Clock, systemClock } from '#src/base/clock.ts'
import { QuiesceError } from '#src/base/errors.ts'
import type { LifecycleEvent } from '#src/base/events.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { createServerOn } from '#src/create-server.ts'
import type { Life } from '#src/lifecycle/life.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import type { Logger } from '#src/log/logger.ts'
import type { LifecycleOptions, ServerOptions } from '#src/options/options.ts'
import type { Report } from '#src/report/report.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { type Answer, fresh } from './upstream-client.ts'

/** A line of the log. */
export interface Line {
  readonly level: keyof Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

interface World<C extends Clock> {
  /** Default: real time. */
  readonly clock?: C
  readonly env?: Record<string, string>
}

interface Created<C extends Clock> extends World<C> {
  readonly listener?: RequestListener
  readonly options?: ServerOptions
}

interface Attached<C extends Clock> extends World<C> {
  readonly options?: LifecycleOptions
}

/**
 * No delay, no health checks that wait, and a deadline which only a test that is about it ever
 * meets.
 */
const DEFAULTS: LifecycleOptions = {
  platform: 'unknown',
  shutdownDelay: 0,
  deadline: '10m',
  hookTimeout: '1m',
  exit: 'natural',
  health: true,
}

/** Hooks are cut by the deadline where a test has one of its own. */
const withDefaults = <Options extends LifecycleOptions>(options: Options | undefined) => ({
  ...DEFAULTS,
  ...(options?.deadline !== undefined && { hookTimeout: options.deadline }),
  ...options,
})

/**
 * A life on real sockets, with a process of its own that a test signals and crashes, and with a
 * record of everything it said. Nothing is registered and nothing has begun. It ends with the test.
 */
export class LifeRig<C extends Clock, L extends Life = Lifecycle> {
  readonly life: L
  readonly clock: C
  readonly process: FakeProcess
  readonly events: LifecycleEvent[] = []
  readonly log: Line[] = []
  #report: Report | undefined

  constructor({ clock, env }: World<C>, make: (host: Host, logger: Logger) => L) {
    this.clock = clock ?? (systemClock as C)
    this.process = new FakeProcess({ env: env ?? {} })
    const logAs =
      (level: Line['level']) =>
      (fields: object, message: string): void =>
        void this.log.push({ level, message, fields: { ...fields } })
    const logger = { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') }
    this.life = make({ clock: this.clock, random: () => 0, process: this.process.asHostProcess(), servers: nodeServers }, logger)
    this.life.events$.subscribe((event) => this.events.push(event))
    onTestFinished(() => this.#dispose())
  }

  get port(): number {
    return (this.life.addresses[0] as { port: number }).port
  }

  /** A request on a new connection. */
  get(path: string): Promise<Answer> {
    return fresh(this.port, path)
  }

  hasFired(name: string): boolean {
    return this.life.signal(name).aborted
  }

  fired(name: string): Promise<void> {
    return aborted(this.life.signal(name))
  }

  /** Lifecycle signals in the order fired. */
  get signals(): string[] {
    return this.events.flatMap((event) => (event.type === 'signal' ? [event.name] : []))
  }

  /** Milliseconds from the stop request to a signal. */
  sinceStop(name: string): number {
    const at = (signal: string): number => this.events.find((event) => event.type === 'signal' && event.name === signal)?.at ?? Number.NaN
    return at(name) - at('StopRequested')
  }

  /** Messages of the log, at this level or all of them. */
  logged(level?: Line['level']): string[] {
    return this.log.filter((line) => level === undefined || line.level === level).map(({ message }) => message)
  }

  /** The end, for which virtual time is moved on beside the real sockets. */
  async end(report: Promise<Report> = this.life.stop('the test asks')): Promise<Report> {
    void report.then((value) => {
      this.#report = value
    })
    const { clock } = this
    if (clock instanceof VirtualClock) while (!this.#report) await clock.advance(1)
    return report
  }

  async #dispose(): Promise<void> {
    if (!this.#report) await this.end()
  }
}

/** A life with a server of its own; everything is answered `hello` unless a listener is given. */
export function newLife<C extends Clock = Clock>(setting: Created<C> = {}): LifeRig<C> {
  const { listener = (_, response) => void response.end('hello'), options } = setting
  return new LifeRig(setting, (host, logger) =>
    createServerOn(host, { listener }, { port: 0, host: '127.0.0.1', logger, ...withoutPort(options), ...withDefaults(options) }),
  )
}

/** Options that say themselves where to listen do not get a port as well. */
const withoutPort = (options: ServerOptions | undefined): ServerOptions => (options?.listeners ? { port: undefined, host: undefined } : {})

/** A life around servers of others. */
export function newAttachedLife<C extends Clock = Clock>(
  server: AttachableServer | readonly AttachableServer[],
  setting: Attached<C> = {},
) {
  return new LifeRig(setting, (host, logger) => attachLifecycleOn(host, server, { logger, ...withDefaults(setting.options) }))
}

/** An audit backend that notes what is asked of it; `run` and `shutdown` do what they are given. */
export class NotedAudit implements AuditBackend {
  readonly calls: string[] = []
  readonly run: AuditBackend['run']
  readonly shutdown: AuditBackend['shutdown']

  constructor({ run = () => {}, shutdown = () => {} }: Partial<AuditBackend> = {}) {
    this.run = (context) => {
      this.calls.push('run')
      return run(context)
    }
    this.shutdown = (context) => {
      this.calls.push('shutdown')
      return shutdown(context)
    }
  }
}

export const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

export const never: Promise<never> = new Promise(() => {})

/** The coded error that a call throws. */
export function refusal(call: () => unknown): QuiesceError {
  try {
    call()
  } catch (thrown) {
    if (thrown instanceof QuiesceError) return thrown
    throw thrown
  }
  throw new Error('nothing was refused')
}
