import { createServer } from 'node:http'

import { clip } from '../../base/cells.ts'
import { QuiesceError } from '../../base/errors.ts'

import type { Life } from '../../lifecycle/life.ts'
import type { ServerOptions } from '../../options/options.ts'
import type { TestConnection, TestRequest } from '../network/test-connection.ts'
import { TestLife } from '../test-life.ts'
import { TestWorld } from '../test-world.ts'
import { isWatch, ScriptApp } from './script-app.ts'
import type { ParsedCommand } from './script-file.ts'
import { HOOK_USAGE, parseHook, register, type ScriptedHook } from './script-hooks.ts'
import { Teller } from './teller.ts'

/** Makes the life of a script in its world; `options` are those of its `serve` command. */
export type MakeLife = (world: TestWorld, options: ServerOptions) => Life

/**
 * A command of your own: `say` writes a line of output. Time stands still while it runs, unless it
 * moves the clock.
 */
export type ScriptCommand = (args: readonly string[], script: ScriptContext) => void | Promise<void>

export interface ScriptContext {
  readonly world: TestWorld
  /** The life that `serve` has begun. */
  readonly life: Life
  say(text: string): void
}

interface CommandRow {
  readonly usage: string
  /** Returns, or resolves with, false when the arguments are not what `usage` says. */
  run(args: readonly string[]): unknown
}

/**
 * One run of a script: its world, the life, the clients by name, and the account of all of them.
 */
export class ScriptRun {
  readonly #world = new TestWorld()
  readonly #teller = new Teller(this.#world.clock)
  readonly #app = new ScriptApp()
  readonly #make: MakeLife
  readonly #own: Readonly<Record<string, ScriptCommand>>
  readonly #hooks: ScriptedHook[] = []
  readonly #clients = new Map<string, TestConnection>()
  readonly #halves = new Map<string, { readonly path: string; readonly rest: string }>()
  readonly #holds = new Map<string, Disposable>()
  #test: TestLife | undefined

  constructor(make: MakeLife | undefined, own: Readonly<Record<string, ScriptCommand>> = {}) {
    this.#make = make ?? ((world, options) => world.createServer({ listener: this.#app.listener }, { longRunning: isWatch, ...options }))
    this.#own = own
    this.#world.process.on('exit', (code: number) => this.#teller.say(`process.exit(${code})`))
  }

  /** Runs a command and lets everything happen that takes no time. */
  async run({ words, line }: ParsedCommand): Promise<void> {
    const [name = '', ...args] = words
    const client = this.#clients.get(name)
    const row = client ? this.#clientCommand(name, client, args) : this.#command(name)
    if (!row)
      throw wrong(
        line,
        `unknown command ${words.join(' ')}; there are: ${Object.keys(this.#commands).join(', ')}, and clients that are connected`,
      )
    const answer = await row.run(client ? args.slice(1) : args)
    if (answer === false) throw wrong(line, `got ${words.join(' ')}, allowed: ${client ? name : ''} ${row.usage}`)
    await this.#world.clock.advance(0)
  }

  /** What was said since the last time. */
  takeOutput(): string[] {
    return this.#teller.take()
  }

  async end(): Promise<void> {
    await this.#test?.[Symbol.asyncDispose]()
  }

  #command(name: string): CommandRow | undefined {
    const own = this.#own[name]
    if (!own) return this.#commands[name]
    const context = { world: this.#world, life: this.#running.life, say: (text: string) => this.#teller.say(text) }
    return { usage: `${name} ...`, run: async (args) => void (await own(args, context)) }
  }

  get #running(): TestLife {
    if (!this.#test) throw new QuiesceError('ERR_OPTION_INVALID', 'a script begins with `serve`')
    return this.#test
  }

  readonly #commands: Readonly<Record<string, CommandRow>> = {
    serve: { usage: 'serve [OPTION=VALUE ...]', run: (args) => this.#serve(args) },
    'post-start': this.#hookCommand('post-start'),
    'pre-shutdown': this.#hookCommand('pre-shutdown'),
    destroy: this.#hookCommand('destroy'),
    phase: this.#hookCommand('phase'),
    occupy: {
      usage: 'occupy PORT',
      run: ([port]) => port !== undefined && void this.#world.network.adopt(createServer()).listen(Number(port)),
    },
    show: { usage: 'show all', run: ([what]) => what === 'all' && this.#teller.showAll() },
    connect: { usage: 'connect NAME ...', run: (names) => this.#connect(names) },
    probe: { usage: 'probe PATH', run: ([path]) => path !== undefined && this.#probe(path) },
    hold: { usage: 'hold NAME', run: ([name]) => name !== undefined && this.#hold(name) },
    release: { usage: 'release NAME', run: ([name = '']) => this.#release(name) },
    signal: { usage: 'signal NAME', run: ([name]) => name !== undefined && this.#world.process.signal(name as NodeJS.Signals) },
    crash: { usage: 'crash MESSAGE', run: (words) => this.#world.process.crash(new Error(words.join(' '))) },
    stop: { usage: 'stop [REASON]', run: (words) => void this.#running.life.stop(words.join(' ') || undefined) },
    advance: { usage: 'advance DURATION', run: ([duration]) => duration !== undefined && this.#world.clock.advance(duration) },
    end: { usage: 'end', run: async () => void (await this.#running.end()) },
  }

  #hookCommand(kind: ScriptedHook['kind']): CommandRow {
    return {
      usage: `${kind} ${HOOK_USAGE}`,
      run: (words) => {
        const hook = parseHook(kind, words)
        if (!hook) return false
        if (this.#test) register(this.#test.life, this.#world.clock, hook)
        else this.#hooks.push(hook)
        return undefined
      },
    }
  }

  async #serve(settings: readonly string[]): Promise<false | undefined> {
    const options = settings.map((setting) => /^(\w+)=(.*)$/.exec(setting))
    if (this.#test || options.includes(null)) return false
    const life = this.#make(
      this.#world,
      Object.fromEntries(options.map((match) => [match?.[1], optionValue(match?.[2] ?? '')])) as ServerOptions,
    )
    const [lifecycle] = this.#world.lives
    if (!lifecycle) throw new QuiesceError('ERR_OPTION_INVALID', 'traceScript: make() created no server in the world that it was given')
    for (const hook of this.#hooks) register(life, this.#world.clock, hook)
    lifecycle.events$.subscribe(this.#teller.event)
    this.#test = new TestLife(this.#world, life, lifecycle)
    await this.#test.run()
    return undefined
  }

  async #connect(names: readonly string[]): Promise<false | undefined> {
    if (names.length === 0) return false
    const test = this.#running
    for (const name of names) {
      try {
        const client = await test.connect()
        this.#clients.set(name, client)
        void client.closed.then((how) => how !== 'left' && this.#teller.say(`${name} is closed${how === 'reset' ? ' by a reset' : ''}`))
      } catch (thrown) {
        this.#teller.say(`${name} cannot connect: ${(thrown as { code?: string }).code}`)
      }
    }
    return undefined
  }

  async #probe(path: string): Promise<void> {
    const test = this.#running
    try {
      const { status } = await test.request(path)
      this.#teller.say(`${path} is ${status}`)
    } catch (thrown) {
      const { code, message } = thrown as { code?: string; message: string }
      this.#teller.say(`${path}: ${code ?? message}`)
    }
  }

  #hold(name: string): void {
    const { life } = this.#running
    try {
      this.#holds.set(name, life.hold(name))
    } catch (thrown) {
      this.#teller.say(`hold ${name}: ${(thrown as { code?: string }).code}`)
    }
  }

  #release(name: string): boolean {
    this.#holds.get(name)?.[Symbol.dispose]()
    return this.#holds.delete(name)
  }

  #clientCommand(name: string, client: TestConnection, [verb = '']: readonly string[]): CommandRow | undefined {
    const follow = (request: TestRequest): void => this.#follow(name, request)
    const rows: Readonly<Record<string, CommandRow>> = {
      half: {
        usage: 'half GET PATH',
        run: ([method, path]) => {
          if (method === undefined || path === undefined) return false
          client.send(`${method} ${path} HTTP/1.1\r\nHo`)
          this.#halves.set(name, { path, rest: 'st: test\r\n\r\n' })
          follow(client.expect(method, path))
          return undefined
        },
      },
      rest: {
        usage: 'rest',
        run: () => {
          const half = this.#halves.get(name)
          if (!half || !this.#halves.delete(name)) return false
          client.send(half.rest)
          return undefined
        },
      },
      answer: {
        usage: 'answer [TEXT]',
        run: (words) => {
          if (!this.#app.answer(client.socket.localPort, words.join(' ') || 'done'))
            this.#teller.say(`nothing of ${name} waits for an answer`)
        },
      },
      leaves: { usage: 'leaves', run: () => client.destroy() },
    }
    if (/^[A-Z]+$/.test(verb)) {
      return {
        usage: `${verb} PATH [BODY]`,
        run: ([path, ...body]) => {
          if (path === undefined) return false
          if (!client.isOpen) return this.#teller.say(`${name} is closed and sends nothing`)
          follow(client.request({ method: verb, path, ...(body.length > 0 && { body: body.join(' ') }) }))
          return undefined
        },
      }
    }
    return rows[verb]
  }

  #follow(client: string, request: TestRequest): void {
    const say = (text: string): void => this.#teller.say(`${client} ${request.name}: ${text}`)
    request.head.then(
      ({ status }) => request.isOver || say(`${status}, and its body goes on`),
      () => {},
    )
    request.response.then(
      ({ status, body, hasClose }) => say(`${status} ${JSON.stringify(beginningOf(body))}${hasClose ? ', told to close' : ''}`),
      () => say(request.received ? 'broke off' : 'was not answered'),
    )
  }
}

const wrong = (line: number, message: string): QuiesceError => new QuiesceError('ERR_OPTION_INVALID', `line ${line}: ${message}`, { line })

/**
 * Options are written as their text: numbers and truth values become such, everything else stays.
 */
function optionValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true'
  return /^\d+$/.test(text) ? Number(text) : text
}

/** The beginning of a body's first line. */
const beginningOf = (body: string): string => clip(body.split('\n', 1)[0] as string, BODY_CELLS_MAX)
const BODY_CELLS_MAX = 41
