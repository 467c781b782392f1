import { stopSignalsDefault } from '../options/rows/stop-signals.ts'
import { onStopSignal } from '../process/os-signals.ts'
import type { CommandHost } from './command-host.ts'

/** A program of the command line. */
export interface Program {
  /** What is typed to run it. */
  readonly name: string
  /** Whether it serves, by its arguments; what it ends with is the exit code of a server then. */
  readonly serves: boolean
  /** Whether it waits for a stop signal without serving. */
  readonly waits?: boolean
  /** Whether it imports a module of the user's. */
  readonly imports: boolean
  /**
   * Loads what the command needs, and runs it.
   * @param release lets go of the stop signals, once a server has them
   * @returns the exit code; undefined when the command has set it
   */
  run(host: CommandHost, release: () => void): Promise<number | undefined>
}

/**
 * Runs a program as this process. It loads nothing but what hears stop signals before it runs: one
 * that comes while modules load must stop the server in order, although there is none yet. Node's
 * default is to die of it. Commands that serve nothing have nothing to end in order.
 */
export async function runProgram({ name, serves, waits = false, imports, run }: Program): Promise<void> {
  const stop = new AbortController()
  const latch =
    serves || waits
      ? onStopSignal(process, stopSignalsDefault(process.platform), (signal) => stop.abort(new Error(`${signal} before the server ran`)))
      : { [Symbol.dispose]: () => {} }
  // A watcher asks by a message, which waits for its reader.
  const onMessage = (message: unknown): void => {
    if (message === 'shutdown') stop.abort(new Error('stopped before the server ran'))
  }
  if (serves && imports && process.channel) process.on('message', onMessage)
  const release = (): void => {
    latch[Symbol.dispose]()
    process.off('message', onMessage)
  }
  const output = guardOutput(name, serves)
  // What looks at a module and serves nothing answers by what it prints, and by its exit code.
  const guard = imports && !serves ? new (await import('./module-guard.ts')).ModuleGuard(name) : undefined
  try {
    const { processFacts } = await import('../platforms/platforms.ts')
    const host: CommandHost = {
      program: name,
      args: process.argv.slice(2),
      env: process.env,
      facts: processFacts(),
      stdin: process.stdin,
      stdout: guard?.stdout ?? process.stdout,
      stderr: process.stderr,
      earlyStop: stop.signal,
    }
    const code = await run(host, release)
    if (code === undefined) return
    // What has been set already is a failure, or the end of a life.
    process.exitCode ??= code
    guard?.settle(output.failed ?? code)
    // What the module of a user's life has opened must not keep a command that is done.
    // It has reported its errors by the next turn.
    const written = (): void =>
      void setImmediate(() => {
        guard?.settle(output.failed ?? code)
        process.exit()
      })
    if (imports) (guard?.stdout ?? process.stdout).write('', written)
  } catch (error) {
    process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`)
    process.exitCode = 70
    guard?.settle(70)
  }
}

/** The exit code of a command whose output cannot be written, once that is known. */
function guardOutput(name: string, serves: boolean): { readonly failed: number | undefined } {
  const output: { failed: number | undefined } = { failed: undefined }
  process.stdout.once('error', (error: NodeJS.ErrnoException) => {
    // Every further line would say the same.
    process.stdout.on('error', () => {})
    // A reader that has seen enough (`quiesce report FILE | head`) is no failure.
    if (error.code === 'EPIPE') return
    process.stderr.write(`${name}: standard output: ${error.message}\n`)
    // What serves has an exit code of its own, which the output must not hide. What prints has
    // failed in all it had to do.
    if (!serves) process.exitCode = output.failed = 4
  })
  // There is nowhere left to say it, and no reason to end a server.
  process.stderr.on('error', () => {})
  return output
}
