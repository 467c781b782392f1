import { EventEmitter } from 'node:events'
import type { HostProcess } from '../actors/host.ts'

/** Thrown in place of the end of the process: nothing after `process.exit` runs in a real one. */
export class ProcessExit extends Error {
  override readonly name = 'ProcessExit'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`process.exit(${exitCode})`)
    this.exitCode = exitCode
  }
}

/**
 * A process that a test ends, signals and crashes without touching its own: OS signals and crashes are events, `exit` is
 * recorded, stderr is text.
 */
export class FakeProcess extends EventEmitter {
  readonly pid = 4711
  readonly platform: NodeJS.Platform = 'linux'
  readonly execArgv: string[] = []
  readonly env: Record<string, string | undefined>
  /** Set by `exit()` or by assignment, as in a real process. */
  exitCode: number | undefined
  /** The codes of every `exit()`; a real process knows at most one. */
  readonly exits: number[] = []
  #stderr = ''

  constructor(env: Record<string, string | undefined> = {}) {
    super()
    this.env = env
  }

  /** Delivers an OS signal. */
  signal(name: NodeJS.Signals): void {
    this.emit(name, name)
  }

  /** An exception that nobody caught. */
  crash(error: unknown): void {
    this.emit('uncaughtException', error, 'uncaughtException')
  }

  /** What was written to stderr. */
  get stderrText(): string {
    return this.#stderr
  }

  readonly stderr = Object.assign(new EventEmitter(), {
    write: (text: string): boolean => {
      this.#stderr += text
      return true
    },
  })

  exit(code?: number): never {
    const exitCode = code ?? this.exitCode ?? 0
    this.exitCode = exitCode
    this.exits.push(exitCode)
    throw new ProcessExit(exitCode)
  }

  getActiveResourcesInfo(): string[] {
    return []
  }

  /** As what a life takes for its process. */
  asHostProcess(): HostProcess {
    return this as unknown as HostProcess
  }
}
