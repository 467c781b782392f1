import type { Server } from 'node:http'
import type { AnyActor } from 'xstate'
import type { Host } from '../actors/host.ts'
import { type AttachedLife, attachLifecycleOn } from '../attach.ts'
import { checkArguments } from '../base/arguments.ts'
import { A_FUNCTION, AN_OBJECT, checkOptions, type RulesOf } from '../base/checked-options.ts'
import { VirtualClock, type VirtualClockOptions } from '../base/virtual-clock.ts'
import { createLifeOn } from '../create-life.ts'
import { createServerOn, type Handler } from '../create-server.ts'
import type { Life } from '../lifecycle/life.ts'
import type { Logger } from '../log/logger.ts'
import type { LifecycleOptions, ServerOptions } from '../options/options.ts'
import { FakeProcess } from './fake-process.ts'
import { MemoryNetwork } from './network/memory-network.ts'

export interface TestWorldOptions {
  /** Default: one with an empty environment, no terminal and no parent. */
  readonly process?: FakeProcess
  /**
   * What decides, from 0 up to 1, which responses tell their client to leave. Default: always 0.5.
   */
  readonly random?: () => number
  readonly clock?: Omit<VirtualClockOptions, 'isQuiet'>
  /** Sees the root actor of a life before it starts, for those who look at machines. */
  readonly observe?: (root: AnyActor) => void
}

export const WORLD_RULES: RulesOf<TestWorldOptions> = {
  process: ['a FakeProcess', (given) => typeof (given as Partial<FakeProcess> | null)?.asHostProcess === 'function'],
  random: A_FUNCTION,
  clock: AN_OBJECT,
  observe: A_FUNCTION,
}

/** A line of the log of a life that was given no logger. */
export interface LogLine {
  readonly at: number
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

/**
 * A world without chance, time and ports: a virtual clock, a process of its own and a network in
 * memory. `createServer` and `attachLifecycle` are those of `quiesce`, in this world; give them to
 * the function that makes your server.
 *
 * Where an option is left out, nothing depends on the machine: the platform is `unknown` (also for
 * `'auto'`), the log is kept in {@link log}, and the process is not ended a second after the life
 * (`exit: 'natural'`).
 */
export class TestWorld {
  readonly clock: VirtualClock
  readonly network: MemoryNetwork
  readonly process: FakeProcess
  readonly log: LogLine[] = []
  /** Every life that was made here, oldest first. */
  readonly lives: Life[] = []
  readonly #host: Host

  constructor(options: TestWorldOptions = {}) {
    checkArguments('new TestWorld(options?)', [options, 'an object of options'])
    checkOptions('TestWorld', options, WORLD_RULES)
    const { process = new FakeProcess(), random = () => 0.5, clock = {}, observe } = options
    this.clock = new VirtualClock({ ...clock, isQuiet: () => this.network.isQuiet })
    this.network = new MemoryNetwork(this.clock)
    this.process = process
    this.#host = {
      clock: this.clock,
      random,
      process: process.asHostProcess(),
      servers: this.network.servers,
      ...(observe && { observe }),
    }
    process.once('exit', () => {
      this.clock.stop()
      this.network.shutDown()
    })
  }

  /** Does as `createServer` of quiesce, in this world. */
  readonly createServer = (handler: Handler, options: ServerOptions = {}): Life =>
    this.#made(createServerOn(this.#host, handler, this.#withDefaults(options)))

  /** Does as `createLife` of quiesce, in this world. */
  readonly createLife = (options: LifecycleOptions = {}): Life => this.#made(createLifeOn(this.#host, this.#withDefaults(options)))

  /**
   * Does as `attachLifecycle` of quiesce, in this world. The server listens here when its
   * `listen()` is called, which must not have happened.
   */
  readonly attachLifecycle = (server: Server, options: LifecycleOptions = {}): AttachedLife =>
    this.#made(attachLifecycleOn(this.#host, this.network.adopt(server), this.#withDefaults(options)))

  /**
   * A life that another entry makes of a world, such as that of an API server. Its options are
   * those given: `platform: 'unknown'` and `logger: false` keep it from looking at the real one.
   */
  readonly create = <L extends Life>(make: (host: Host) => L): L => {
    checkArguments('create(make)', [make, 'a function'])
    return this.#made(make(this.#host))
  }

  #made<L extends Life>(life: L): L {
    this.lives.push(life)
    return life
  }

  #withDefaults<O extends LifecycleOptions>(options: O): O {
    checkArguments('a life of the test world (options?)', [options, 'an object of options'])
    const { platform, logger, exit } = options
    return {
      ...options,
      platform: platform === undefined || platform === 'auto' ? 'unknown' : platform,
      logger: logger === undefined ? this.#logger() : logger,
      exit: exit ?? 'natural',
    }
  }

  #logger(): Logger {
    const logAs =
      (level: LogLine['level']) =>
      (fields: object, message: string): void =>
        void this.log.push({ at: this.clock.now(), level, message, fields: { ...fields } })
    return { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') }
  }
}
