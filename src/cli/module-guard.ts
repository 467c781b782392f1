import { optionError, toError } from '../base/errors.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { firstLine } from './first-line.ts'
import { isOfListen, mayListen } from './module-listens.ts'
import { importing } from './user-module.ts'

type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows'> & { write(text: string, done?: () => void): unknown }

const REFUSED: ExitCode = 2

/**
 * Stands between the verdict of a command and the module of the user's that it looks at. Exit codes
 * say what holds, and standard output is a document for programs: neither may be the module's,
 * which runs in the same process and may end it, crash it, or print.
 */
export class ModuleGuard {
  readonly #program: string
  /** Standard output, the command's alone: what the module prints goes to standard error. */
  readonly stdout: Output
  #verdict: number | undefined

  constructor(program: string) {
    this.#program = program
    const { stdout, stderr } = process
    const write = stdout.write.bind(stdout) as (text: string, done?: () => void) => boolean
    this.stdout = {
      write,
      get isTTY() {
        return stdout.isTTY
      },
      get columns() {
        return stdout.columns
      },
      get rows() {
        return stdout.rows
      },
    }
    stdout.write = stderr.write.bind(stderr)
    process.on('exit', this.#onExit)
    process.on('uncaughtException', this.#onUncaught)
    process.on('unhandledRejection', this.#onRejection)
  }

  /** The verdict has been printed: whatever the module does from now on does not change it. */
  settle(verdict: number): void {
    this.#verdict = verdict
    process.exitCode = verdict
    // Behind those of the module.
    process.off('exit', this.#onExit)
    process.on('exit', this.#onExit)
  }

  readonly #onExit = (code: number): void => {
    const verdict = this.#verdict ?? (this.#refuse(`it ended the process with exit code ${code}`) ? REFUSED : undefined)
    if (verdict !== undefined) process.exitCode = verdict
  }

  readonly #onUncaught = (error: unknown): void => {
    // The import is refused for it, in words of its own.
    if (isOfListen(error) && mayListen()) return
    this.#crashed('it threw in a callback', error)
  }

  readonly #onRejection = (reason: unknown): void => this.#crashed('a promise of its own was rejected', reason)

  #crashed(how: string, thrown: unknown): void {
    if (this.#verdict !== undefined) return
    const error = toError(thrown)
    if (this.#refuse(`${how}: ${firstLine(error.message)}`)) this.settle(REFUSED)
    else {
      process.stderr.write(`${this.#program}: ${error.stack ?? error.message}\n`)
      this.settle(70)
    }
    process.exit()
  }

  /** Whether there is a module that can have done it. */
  #refuse(what: string): boolean {
    const module = importing()
    if (!module) return false
    const { message } = optionError(module.label, module.path, `${module.allowed} (${what} before the command was done)`)
    process.stderr.write(`${this.#program}: ${message}\n`)
    return true
  }
}
