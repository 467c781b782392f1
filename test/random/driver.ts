import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Model } from '#model'
import type { UserCodeContext } from '#src/actors/user-code.ts'
import { shutdownSignalOf } from '#src/http/shutdown-signal.ts'
import type { Life } from '#src/lifecycle/life.ts'
import { planOf } from '#src/model/life/lifecycle-model.ts'
import type { LifecycleOptions } from '#src/options/options.ts'
import type { TestConnection, TestRequest } from '#src/testing/network/test-connection.ts'
import { type TestLife, testLife } from '#src/testing/test-life.ts'
import type { TestWorld } from '#src/testing/test-world.ts'
import { remembered } from '../../packages/model/src/engine/memo.ts'
import type { Behaviour, Command, Sequence, Setting } from './commands.ts'
import { modelOf, Shadow } from './shadow.ts'

export const DEADLINE_MS = 12_000
const PORT = 8080

/** A request as its client and its server saw it. */
export interface Sent {
  readonly request: TestRequest
  readonly connection: TestConnection
  readonly isWatch: boolean
  readonly isLaterOnConnection: boolean
  readonly wasSentBeforeStop: boolean
  /** Its handler has it. */
  accepted: boolean
  /** Its handler has it although new requests were refused already. */
  wasLetInLate: boolean
  /** Its handler has answered all of it. */
  answered: boolean
  /** Not all of it was sent. */
  isHalf: boolean
}

/** One model for each composition: what it has learnt serves all sequences. */
const models = new Map<string, Model>()

function modelFor(life: Life, { kind, mode, delay }: Setting): Model {
  const key = `${kind} ${mode} ${delay}`
  return remembered(models, key, () => modelOf(planOf(life)))
}

/** Runs one sequence on a live life in memory, with the checker's model beside it. */
export class Driver {
  readonly sent: Sent[] = []
  readonly connections: TestConnection[] = []
  /** Closed before a stop began: by node's keep-alive timeout, or by the client. */
  readonly closedWhileServing = new Set<TestConnection>()
  /** Those that the life was told of. */
  crashes = 0
  readonly #setting: Setting
  readonly #server = createServer((request, response) => this.#handle(request, response))
  readonly #halves = new Map<TestConnection, Sent>()
  readonly #waiting: { readonly sent: Sent; readonly response: ServerResponse }[] = []
  #hold: Disposable | undefined
  #shadow: Shadow | undefined
  #test: TestLife | undefined

  constructor(setting: Setting) {
    this.#setting = setting
  }

  get test(): TestLife {
    return this.#test as TestLife
  }

  get mode(): Setting['mode'] {
    return this.#setting.mode
  }

  get isListening(): boolean {
    return this.#server.listening || (!this.#setting.portIsTaken && this.test.network.listensOn(PORT))
  }

  get shadow(): Shadow {
    return this.#shadow as Shadow
  }

  async run({ commands }: Pick<Sequence, 'commands'>): Promise<void> {
    this.#test = await testLife((world) => this.#make(world), { run: false, observe: (root) => this.#shadow?.observe(root) })
    this.#test.life.events$.subscribe((event) => {
      if (event.type !== 'signal' || event.name !== 'ShutdownInitiated') return
      for (const connection of this.connections) if (!connection.isOpen) this.closedWhileServing.add(connection)
    })
    const running = this.#test.run()
    await this.#test.clock.advance(0)
    for (const command of commands) {
      if (this.test.process.isOver) break
      await this.#do(command)
      await this.test.clock.advance(0)
      this.shadow.compare()
    }
    await this.test.stop('the sequence is over')
    await running
    await this.test.clock.advance(0)
    this.shadow.compare()
  }

  #make(world: TestWorld): Life {
    const { mode, kind, delay, portIsTaken } = this.#setting
    const options: LifecycleOptions = {
      whileDraining: mode,
      deadline: DEADLINE_MS,
      // What is logged is told by the events as well.
      logger: false,
      shutdownDelay: delay ? 2_000 : 0,
      watchGrace: 3_000,
      hookTimeout: 1_500,
      connectionTimeout: mode === 'refuse' ? 4_000 : undefined,
      health: true,
      longRunning: ({ url = '' }) => /watch|deaf/.test(url),
    }
    if (portIsTaken && kind !== 'attached') world.network.adopt(createServer()).listen(PORT)
    const life = kind === 'attached' ? world.attachLifecycle(this.#server, options) : this.#createServer(world, options)
    if (kind === 'attached') this.#server.listen(PORT)
    this.#shadow = new Shadow(modelFor(life, this.#setting))
    return life
  }

  #createServer(world: TestWorld, options: LifecycleOptions): Life {
    const { kind, auditRun, auditShutdown, postStart, preShutdown, preShutdown2, destroy, phase } = this.#setting
    const behaves = (behaviour: Behaviour) => (context: { readonly signal: AbortSignal }) => behave(world, behaviour, context)
    const audit = kind === 'hooked' ? { audit: { run: behaves(auditRun), shutdown: behaves(auditShutdown) } } : {}
    const life = world.createServer(
      { listener: (request, response) => this.#handle(request, response) },
      { ...options, ...audit, port: PORT },
    )
    if (kind === 'hooked') {
      life.addPostStartHook('warm', behaves(postStart))
      life.addPreShutdownHook('leave', behaves(preShutdown))
      life.addPreShutdownHook('flush', behaves(preShutdown2), { after: [] })
      life.addDestroy('pool', behaves(destroy))
      life.addDestroy('cache', behaves('returns'))
      life.addPhase('queue', behaves(phase), { after: ['RequestsDrained'], before: ['audit-shutdown'] })
    }
    return life
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const { url = '' } = request
    const sent = this.sent[Number(/\/(\d+)$/.exec(url)?.[1])]
    if (!sent) throw new Error(`a request that nobody has sent: ${url}`)
    sent.accepted = true
    sent.wasLetInLate = this.test.hasFired('NotAcceptingNewRequest')
    response.on('error', () => {})
    const answer = (): void => {
      sent.answered = !response.destroyed && request.socket.writable
      response.end('answer')
    }
    if (url.startsWith('/quick')) {
      answer()
      return
    }
    if (url.startsWith('/watch')) shutdownSignalOf(request).addEventListener('abort', answer, { once: true })
    if (!url.startsWith('/slow')) response.flushHeaders()
    this.#waiting.push({ sent, response })
  }

  async #do(command: Command): Promise<void> {
    const { life, process, clock } = this.test
    switch (command.do) {
      case 'connect':
        await this.#connect()
        break
      case 'request':
        await this.#onConnection(command.on, (connection) => {
          if (!this.#halves.has(connection)) this.#send(connection, command.what, '\r\nHost: test\r\n\r\n')
        })
        break
      case 'half':
        await this.#onConnection(command.on, (connection) => {
          this.#half(connection)
        })
        break
      case 'rest':
        await this.#onConnection(command.on, (connection) => {
          this.#rest(connection)
        })
        break
      case 'answer':
        this.#answer(command.on)
        break
      case 'leave':
        this.connections[command.on]?.destroy()
        break
      case 'probe':
        await this.test.request(command.path).catch(() => {})
        break
      case 'signal':
        process.signal(command.name)
        break
      case 'stop':
        void life.stop()
        break
      case 'crash':
        if (process.listenerCount('uncaughtException') === 0) break
        this.crashes++
        process.crash(new Error('crash'))
        break
      case 'listener-dies':
        if (this.#server.listening) this.#server.emit('error', new Error('EMFILE'))
        break
      case 'owner-closes':
        if (this.#server.listening) this.#server.close()
        break
      case 'hold':
        try {
          this.#hold ??= life.hold('job')
        } catch {
          // Refused, as it may be.
        }
        break
      case 'release':
        this.#hold?.[Symbol.dispose]()
        break
      case 'advance':
        await clock.advance(command.ms)
        break
    }
  }

  async #connect(): Promise<void> {
    try {
      this.connections.push(await this.test.connect())
    } catch {
      // Nobody listens, not yet or not any more.
    }
  }

  async #onConnection(on: number, then: (connection: TestConnection) => void): Promise<void> {
    if (this.connections.length === 0) await this.#connect()
    const connection = this.connections[on % Math.max(1, this.connections.length)]
    if (connection?.isOpen) then(connection)
  }

  #send(connection: TestConnection, what: string, end: string): Sent {
    const path = `/${what}/${this.sent.length}`
    connection.send(`GET ${path} HTTP/1.1${end}`)
    const sent: Sent = {
      request: connection.expect('GET', path),
      connection,
      isWatch: what === 'watch' || what === 'deaf',
      isLaterOnConnection: this.sent.some((earlier) => earlier.connection === connection),
      wasSentBeforeStop: !this.test.hasFired('ShutdownInitiated'),
      accepted: false,
      wasLetInLate: false,
      answered: false,
      isHalf: false,
    }
    this.sent.push(sent)
    return sent
  }

  #half(connection: TestConnection): void {
    if (this.#halves.has(connection)) return
    const sent = this.#send(connection, 'quick', '\r\nHo')
    sent.isHalf = true
    this.#halves.set(connection, sent)
  }

  #rest(connection: TestConnection): void {
    const sent = this.#halves.get(connection)
    if (!sent || !this.#halves.delete(connection)) return
    connection.send('st: test\r\n\r\n')
    sent.isHalf = false
  }

  /**
   * Whether the watch drain was cut with it: a watch is cut with its connection, and with it goes
   * what was pipelined behind it.
   */
  wasCutWithWatches(one: Sent): boolean {
    const isCut = this.test.events.some((event) => event.type === 'drained' && event.what === 'watches' && event.after > 0)
    const before = this.sent.slice(0, this.sent.indexOf(one))
    return isCut && (one.isWatch || before.some(({ connection, isWatch }) => isWatch && connection === one.connection))
  }

  #answer(on: number): void {
    const [waiting] = this.#waiting.splice(on % Math.max(1, this.#waiting.length), 1)
    if (!waiting || waiting.response.destroyed) return
    // What has no socket yet waits behind another on its connection, and has lost it when it was
    // cut.
    const hasLost = waiting.response.socket === null && this.wasCutWithWatches(waiting.sent)
    waiting.sent.answered = !hasLost && waiting.response.socket?.writable !== false
    waiting.response.end('answer')
  }
}

/** Times around the bound of 1.5 s that hooks have. */
async function behave({ clock }: TestWorld, behaviour: Behaviour, { signal }: Pick<UserCodeContext, 'signal'>): Promise<void> {
  switch (behaviour) {
    case 'returns':
      return
    case 'slow':
      return clock.sleep(700)
    case 'late':
      return clock.sleep(2_200)
    case 'fails':
      throw new Error('failed')
    case 'fails-slowly':
      await clock.sleep(300)
      throw new Error('failed')
    case 'heeds':
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
    case 'hangs':
      return new Promise(() => {})
  }
}
