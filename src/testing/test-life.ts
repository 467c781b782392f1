import type { Server } from 'node:http'
import type { AttachedLife } from '../attach.ts'
import { checkArguments, withFields } from '../base/arguments.ts'
import { A_FUNCTION, A_SWITCH, checkGivenOptions, checkOptions, type RulesOf } from '../base/checked-options.ts'
import { systemClock } from '../base/clock.ts'
import { QuiesceError } from '../base/errors.ts'
import type { LifecycleEvent } from '../base/events.ts'
import { ProcessExit } from '../base/thrown-exit.ts'
import type { VirtualClock } from '../base/virtual-clock.ts'
import type { Handler } from '../create-server.ts'
import type { Life } from '../lifecycle/life.ts'
import type { LifecycleOptions, ServerOptions } from '../options/options.ts'
import type { Report } from '../report/report.ts'
import type { FakeProcess } from './fake-process.ts'
import type { MemoryNetwork } from './network/memory-network.ts'
import type { TestResponse } from './network/response-reader.ts'
import { requestOptions, TestConnection, type TestRequestOptions } from './network/test-connection.ts'
import { type LogLine, TestWorld, type TestWorldOptions, WORLD_RULES } from './test-world.ts'

/**
 * How long a life may take, in real milliseconds, until it serves: adapters and loggers are loaded
 * from files.
 */
const START_MS_MAX = 5_000
/**
 * And how much of it the process has to have had for itself: on a machine with other work a life
 * may not get its turn for longer.
 */
const START_CPU_MS_MIN = 1_000

/** The signals by which it serves, or will not. */
const BEGUN: readonly string[] = ['PostStartHooksLaunched', 'StopRequested']

/** A whole life under test: its world, what it said, and clients for it. */
export class TestLife<L extends Life = Life> implements AsyncDisposable {
  readonly life: L
  readonly clock: VirtualClock
  readonly process: FakeProcess
  readonly network: MemoryNetwork
  /** What the life did, as it happened. */
  readonly events: LifecycleEvent[] = []
  /** What it logged, when it was given no logger. */
  readonly log: readonly LogLine[]
  #report: Report | undefined
  #failure: unknown

  /** @param lifecycle the life itself; `life` is what the test's own function has made of it */
  constructor(world: TestWorld, life: L, lifecycle: Life) {
    this.life = life
    this.clock = world.clock
    this.process = world.process
    this.network = world.network
    this.log = world.log
    lifecycle.events$.subscribe((event) => this.events.push(event))
    void lifecycle.ended.then((report) => {
      this.#report = report
    })
  }

  /** The report, once the life has ended. */
  get report(): Report | undefined {
    return this.#report
  }

  /** Lifecycle signals in the order they fired. */
  get signals(): string[] {
    return this.events.flatMap((event) => (event.type === 'signal' ? [event.name] : []))
  }

  /** @throws QuiesceError ERR_UNKNOWN_REFERENCE for a name that no phase of this life fires */
  hasFired(signal: string): boolean {
    // A slip of the hand would never have fired.
    void this.life.signal(signal)
    return this.signals.includes(signal)
  }

  /**
   * Runs the life in its process; resolves when it serves, has been told to stop, or needs time to
   * pass.
   */
  async run(): Promise<void> {
    this.life.run().catch((thrown: unknown) => {
      // What `run()` does after the end of the process, it does in a test only.
      if (!(thrown instanceof ProcessExit)) this.#failure = thrown
    })
    await this.#begun()
  }

  /**
   * Moves time on until the life has ended.
   * @throws QuiesceError ERR_TIMEOUT when it waits for something that no time brings, such as the
   * test itself
   */
  async end(): Promise<Report> {
    await this.clock.runUntil(() => this.#report !== undefined)
    if (this.#failure !== undefined) throw this.#failure
    if (this.#report) return this.#report
    const last = this.signals.at(-1) ?? 'nothing'
    throw new QuiesceError(
      'ERR_TIMEOUT',
      `TestLife.end: the life has not ended, and no timer is left that could end it; its last signal was ${last}`,
      {
        last,
      },
    )
  }

  /**
   * Stops the life, moves time on until it has ended, and resolves with its report. A second call
   * returns the same one.
   */
  stop(reason = 'the test asks'): Promise<Report> {
    void this.life.stop(reason)
    return this.end()
  }

  /**
   * A new connection to the life's first listener, or to a port or Unix socket.
   * @throws Error ECONNREFUSED without a listener there
   */
  async connect(place?: number | string): Promise<TestConnection> {
    return new TestConnection(await this.network.connect(place ?? this.#firstPlace()))
  }

  /** One request on a connection of its own, which is left afterwards. */
  async request(options: string | TestRequestOptions): Promise<TestResponse> {
    const checked = requestOptions(options)
    const connection = await this.connect()
    try {
      return await connection.request(checked).response
    } finally {
      connection.destroy()
    }
  }

  /** Ends a life that the test has left running. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#report && !this.process.isOver) await this.stop('the test is over')
  }

  #firstPlace(): number | string {
    const [first] = this.life.addresses
    if (!first) throw new QuiesceError('ERR_NOTHING_TO_SERVE', 'TestLife.connect: the life does not listen yet')
    return first.port || first.address
  }

  async #begun(): Promise<void> {
    let timedOut = false
    const bound = systemClock.setTimeout(() => {
      timedOut = true
    }, START_MS_MAX)
    const hasBegun = (): boolean => this.signals.some((name) => BEGUN.includes(name)) || this.#report !== undefined
    const before = process.cpuUsage()
    const isStarved = (): boolean => {
      const { user, system } = process.cpuUsage(before)
      return user + system < START_CPU_MS_MIN * 1_000
    }
    while (!hasBegun() && (!timedOut || isStarved())) await this.clock.advance(0)
    systemClock.clearTimeout(bound)
    if (timedOut) {
      throw new QuiesceError(
        'ERR_TIMEOUT',
        `TestLife.run: not serving after ${START_MS_MAX} real milliseconds; when the start needs time to pass, do not await run() before you move the clock`,
      )
    }
  }
}

export interface TestLifeOptions extends TestWorldOptions {
  /**
   * False: nothing has begun, for starts that need time to pass and stops that come before them.
   * Default true.
   */
  readonly run?: boolean
}

const LIFE_RULES: RulesOf<TestLifeOptions> = { ...WORLD_RULES, run: A_SWITCH }

/**
 * Makes a life in a world of its own and runs it. `make` gets that world and makes the life with
 * its `createServer` or `attachLifecycle`; hooks, checks and phases are registered there.
 * @throws QuiesceError ERR_OPTION_INVALID when `make` made none or several, and whatever `make`
 * throws; ERR_TIMEOUT as `run()`
 */
export async function testLife<L extends Life>(
  make: (world: TestWorld) => L | Promise<L>,
  all: TestLifeOptions = {},
): Promise<TestLife<L>> {
  checkArguments('testLife(make, options?)', [make, 'a function'], [all, 'an object of options'])
  checkOptions('testLife()', all, LIFE_RULES)
  const { run = true, ...options } = all
  const world = new TestWorld(options)
  const life = await make(world)
  const [lifecycle, ...others] = world.lives
  if (!lifecycle || others.length > 0) {
    throw new QuiesceError(
      'ERR_OPTION_INVALID',
      `testLife: make() created ${world.lives.length} servers in the world that it was given, allowed: 1`,
    )
  }
  const test = new TestLife(world, life, lifecycle)
  if (run) await test.run()
  return test
}

interface SetUp<L> extends TestLifeOptions {
  /** Registers hooks, checks and phases, before anything begins; a promise is waited for. */
  readonly setUp?: (life: L) => unknown
}

const SET_UP_RULES = { ...LIFE_RULES, setUp: A_FUNCTION }

export interface TestServerOptions extends ServerOptions, SetUp<Life> {}
export interface TestAttachedOptions extends LifecycleOptions, SetUp<AttachedLife> {}

/**
 * A server of quiesce under test, from serving to its end: real HTTP over connections in memory, on
 * virtual time, without a port.
 * @example
 * const t = await testServer(app, { deadline: '25s' })
 * const client = await t.connect()
 * expect((await client.get('/readyz')).status).toBe(200)
 * expect((await t.end()).exitCode).toBe(0)
 */
export async function testServer(handler: Handler, options: TestServerOptions = {}): Promise<TestLife> {
  checkArguments('testServer(handler, options?)', [options, 'an object of options'], [options, 'an object of options'])
  checkGivenOptions('testServer()', options, SET_UP_RULES)
  const { setUp, ...others } = options
  const { world, rest } = parted(others)
  return testLife(async ({ createServer }) => {
    const life = createServer(handler, rest)
    await setUp?.(life)
    return life
  }, world)
}

/**
 * The same around a `node:http` server of your own, which must not listen yet; it is told to, on a
 * port of the network in memory.
 * @example
 * const server = http.createServer(app.callback())
 * const t = await testAttached(server, { deadline: '25s' })
 * expect((await t.end()).errors).toEqual([])
 */
export async function testAttached(server: Server, options: TestAttachedOptions = {}): Promise<TestLife<AttachedLife>> {
  checkArguments(
    'testAttached(server, options?)',
    [server, withFields('a server of node:http', 'listen', 'on')],
    [options, 'an object of options'],
  )
  checkGivenOptions('testAttached()', options, SET_UP_RULES)
  const { setUp, ...others } = options
  const { world, rest } = parted(others)
  return testLife(async ({ attachLifecycle }) => {
    const life = attachLifecycle(server, rest)
    await setUp?.(life)
    server.listen(0)
    return life
  }, world)
}

/** The options of the test, and those of the life. */
function parted<O extends TestLifeOptions>({ process, random, clock, observe, run, ...rest }: O) {
  const world: TestLifeOptions = {
    ...(process && { process }),
    ...(random && { random }),
    ...(clock && { clock }),
    ...(observe && { observe }),
    ...(run !== undefined && { run }),
  }
  return { world, rest }
}
