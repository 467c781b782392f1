import { type ChildProcess, spawn } from 'node:child_process'
import { systemClock } from '../../base/clock.ts'
import { deferred } from '../../base/deferred.ts'
import { stopSignalsDefault } from '../../options/rows/stop-signals.ts'
import { onStopSignal } from '../../process/os-signals.ts'
import type { CliHost } from '../host.ts'
import { STOPPING } from './answer-watcher.ts'
import { packageFolder, SourceChanges } from './source-changes.ts'

/** A generation that takes longer to say that it stops is blocked, by a loop without an end. */
const ANSWER_MS = 5_000
/** A person who says it for the third time has seen that the process does not answer. */
const KILLED_BY_SIGNALS = 3

/**
 * `quiesce run APP --watch`: a process per generation. A change is told to the one that runs as a
 * stop request, so it drains; the next one starts when it is gone and the address is free. What
 * changes meanwhile is in that one. A generation that ends by itself, or cannot start, is not
 * started again before something changes. One that is too busy to hear that it is to stop is
 * killed.
 *
 * @param release lets go of the stop signals, once they are heard here
 * @returns the exit code of the last generation
 */
export async function watchApp(app: string, host: CliHost, release: () => void): Promise<number> {
  const { promise, resolve } = deferred<number>()
  const generations = new Generations(host, resolve)
  const changes = new SourceChanges(systemClock, packageFolder(app), (file) => generations.changed(file))
  const signals = onStopSignal(process, stopSignalsDefault(process.platform), (signal) => generations.signalled(signal))
  release()
  try {
    if (host.earlyStop.aborted) return 0
    generations.watching(changes.folder)
    generations.start()
    return await promise
  } finally {
    changes[Symbol.dispose]()
    signals[Symbol.dispose]()
  }
}

class Generations {
  readonly #host: CliHost
  readonly #ended: (exitCode: number) => void
  #count = 0
  #running: ChildProcess | undefined
  /** Whether the child has said that it stops, whatever made it stop. */
  #isStopping = false
  #blocked: unknown
  #folder = ''
  /** Something has changed since the one that runs was started. */
  #isStale = false
  /** How often this process was told to end, and by what at last. */
  #signals = 0
  #signal: NodeJS.Signals | undefined

  constructor(host: CliHost, ended: (exitCode: number) => void) {
    this.#host = host
    this.#ended = ended
  }

  watching(folder: string): void {
    this.#folder = folder
    this.#say(`watching ${folder}`)
  }

  start(): void {
    this.#isStale = false
    this.#count += 1
    const [, cli = ''] = process.argv
    // In the process group of this one, so that Ctrl-C, Ctrl-Z and the size of the terminal reach
    // it. It hears a signal twice then, and knows that it is one.
    const child = spawn(process.execPath, [...process.execArgv, cli, ...this.#host.args, '--no-watch'], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    })
    this.#running = child
    this.#isStopping = false
    child.on('message', (message) => {
      if (message === STOPPING) this.#isStopping = true
    })
    child.once('error', (error) => this.#over(error.message, 3))
    // A stop signal kills what has not begun to listen to it, and so has nothing to end.
    child.once('exit', (code, signal) =>
      this.#over(signal === null ? `exit code ${code}` : `signal ${signal}`, code ?? (signal === this.#signal ? 0 : 1)),
    )
  }

  changed(file: string): void {
    if (this.#signals > 0 || this.#isStale) return
    if (!this.#running) {
      this.#say(`${file} has changed: starting generation ${this.#count + 1}`)
      this.start()
      return
    }
    this.#isStale = true
    this.#say(`${file} has changed: draining generation ${this.#count}`)
    // Not a signal, which Windows does not have, and whose second one would be by force; but a
    // module that has closed the channel hears nothing else.
    const running = this.#running
    running.send('shutdown', (error) => void (error !== null && running.kill('SIGTERM')))
    this.#expectAnswer(running)
  }

  signalled(signal: NodeJS.Signals): void {
    this.#signals += 1
    this.#signal = signal
    if (!this.#running) this.#ended(0)
    else if (this.#signals >= KILLED_BY_SIGNALS) this.#running.kill('SIGKILL')
    // There, kill() would be no request.
    else if (process.platform === 'win32') this.#running.send('shutdown', () => {})
    else this.#running.kill(signal)
    if (this.#running) this.#expectAnswer(this.#running)
  }

  #expectAnswer(child: ChildProcess): void {
    this.#blocked ??= systemClock.setTimeout(() => {
      // Nor can one answer whose module has closed the channel.
      if (this.#isStopping || !child.connected) return
      this.#say(`generation ${this.#count} does not answer: killing it`)
      child.kill('SIGKILL')
    }, ANSWER_MS)
  }

  #over(how: string, exitCode: number): void {
    if (!this.#running) return
    this.#running = undefined
    systemClock.clearTimeout(this.#blocked)
    this.#blocked = undefined
    if (this.#signals > 0) {
      this.#ended(exitCode)
    } else if (this.#isStale) {
      if (exitCode !== 0) this.#say(`generation ${this.#count} ended with ${how}`)
      this.#say(`starting generation ${this.#count + 1}`)
      this.start()
    } else this.#say(`generation ${this.#count} ended with ${how}; waiting for a change in ${this.#folder}`)
  }

  #say(what: string): void {
    this.#host.stderr.write(`quiesce: ${what}\n`)
  }
}
