import { EventEmitter } from 'node:events'
import type { HostProcess } from '../actors/host.ts'
import { checkArguments } from '../base/arguments.ts'
import { A_SWITCH, A_TEXT, AN_OBJECT, checkOptions, type RulesOf } from '../base/checked-options.ts'
import { optionError, QuiesceError, show } from '../base/errors.ts'
import { CRASH_EVENTS, type CrashEvent, isCrashEvent } from '../base/events.ts'
import { ProcessExit } from '../base/thrown-exit.ts'

export interface FakeProcessOptions {
  /** Default: empty, so that nothing depends on where a test runs. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Whether a person sits in front of it: SIGINT is a Ctrl-C then. Default false. */
  readonly terminal?: boolean
  /** Whether a parent process listens to `process.send`. Default false. */
  readonly ipc?: boolean
  readonly platform?: NodeJS.Platform
}

const OPTION_RULES: RulesOf<FakeProcessOptions> = { env: AN_OBJECT, terminal: A_SWITCH, ipc: A_SWITCH, platform: A_TEXT }

/**
 * A process that a test ends, signals and crashes without touching its own: OS signals, crashes and
 * messages are events, `exit` is recorded and throws {@link ProcessExit}, stderr is text. What has
 * no listener does what it does to a real process: it ends it.
 */
export class FakeProcess extends EventEmitter {
  readonly pid = 4711
  readonly platform: NodeJS.Platform
  readonly execArgv: string[] = []
  readonly env: Record<string, string | undefined>
  readonly stdin: { readonly isTTY: boolean }
  readonly stdout: { readonly isTTY: boolean }
  /** Set by `exit()` or by assignment, as in a real process. */
  exitCode: number | undefined
  /** The codes of every `exit()`; a real process knows at most one. */
  readonly exits: number[] = []
  /** What the parent was sent, in order. */
  readonly sent: unknown[] = []
  /** The channel to a parent, with the option `ipc`, as in a process that was forked. */
  readonly send: ((message: unknown) => boolean) | undefined
  #killedBy: NodeJS.Signals | undefined
  #stderr = ''

  constructor(options: FakeProcessOptions = {}) {
    super()
    checkArguments('new FakeProcess(options?)', [options, 'an object of options'])
    checkOptions('FakeProcess', options, OPTION_RULES)
    const { env = {}, terminal = false, ipc = false, platform = 'linux' } = options
    this.env = { ...env }
    this.platform = platform
    this.stdin = this.stdout = { isTTY: terminal }
    this.send = ipc ? (message) => this.sent.push(message) > 0 : undefined
  }

  /** The signal that ended the process because it had no listener. */
  get killedBy(): NodeJS.Signals | undefined {
    return this.#killedBy
  }

  /** Whether the process is over: it has exited, or a signal has killed it. */
  get isOver(): boolean {
    return this.exits.length > 0 || this.#killedBy !== undefined
  }

  /**
   * Delivers an OS signal. A signal without a listener kills.
   * @throws QuiesceError ERR_OPTION_INVALID for a process that is over, or a signal that no process
   * can listen to
   */
  signal(name: NodeJS.Signals): void {
    checkArguments('signal(name)', [name, 'a text'])
    this.#mustLive('signal')
    if (name === 'SIGKILL' || name === 'SIGSTOP') {
      throw new QuiesceError('ERR_OPTION_INVALID', `FakeProcess.signal: got ${name}, allowed: signals that a process can listen to`)
    }
    if (!this.#heard(name, name)) this.#killedBy = name
  }

  /**
   * An uncaught exception. Without a listener the process writes it to stderr and exits with 1.
   * @throws QuiesceError ERR_OPTION_INVALID for a process that is over
   */
  crash(thrown: unknown, origin: CrashEvent = 'uncaughtException'): void {
    if (!isCrashEvent(origin)) throw optionError('origin of crash(thrown, origin?)', origin, CRASH_EVENTS.join(' or '))
    this.#mustLive('crash')
    if (this.#heard(origin, thrown, origin)) return
    this.stderr.write(`${thrown instanceof Error ? thrown.stack : show(thrown)}\n`)
    this.#exited(1)
  }

  /** A message of the parent process. */
  message(message: unknown): void {
    this.#mustLive('message')
    this.#heard('message', message, undefined)
  }

  /** What was written to stderr. */
  get stderrText(): string {
    return this.#stderr
  }

  readonly stderr: EventEmitter & { write(text: string): boolean } = Object.assign(new EventEmitter(), {
    write: (text: string): boolean => {
      this.#stderr += text
      return true
    },
  })

  /** Records the code, tells `exit` listeners the first time, and throws {@link ProcessExit}. */
  exit(code?: number): never {
    const exitCode = code ?? this.exitCode ?? 0
    this.#exited(exitCode)
    throw new ProcessExit(exitCode)
  }

  /**
   * Whether there was a listener. No caller stands behind the event whom a listener's exit could
   * reach.
   */
  #heard(event: string, ...args: unknown[]): boolean {
    try {
      return this.emit(event, ...args)
    } catch (thrown) {
      if (thrown instanceof ProcessExit) return true
      throw thrown
    }
  }

  #exited(exitCode: number): void {
    this.exitCode = exitCode
    if (this.exits.push(exitCode) === 1) this.emit('exit', exitCode)
  }

  #mustLive(method: string): void {
    if (!this.isOver) return
    const how = this.#killedBy ?? `exit code ${this.exitCode}`
    throw new QuiesceError('ERR_OPTION_INVALID', `FakeProcess.${method}: the process is over (${how})`)
  }

  /** Node names here what keeps a process alive: in a fake one, nothing does. */
  getActiveResourcesInfo(): string[] {
    return []
  }

  /** The same object as what a life takes for its process. */
  asHostProcess(): HostProcess {
    return this as unknown as HostProcess
  }
}
