import type { Host } from '../actors/host.ts'
import { createDefaultLogger } from '../log/default-logger.ts'
import type { Logger, LogLevel } from '../log/logger.ts'
import type { ProblemWording } from '../options/kit/problems.ts'
import type { ResolvedOptions } from '../options/options.ts'
import type { StopSignal } from '../options/rows/stop-signals.ts'
import { isForPeople } from '../platforms/terminal.ts'
import type { Presentation, PresentedLife } from '../terminal/presentation.ts'

/** The log of a life that was given no logger. */
export interface DefaultLog {
  /** Whether there is one where only programs read it, too. */
  readonly isForAll: boolean
  /** @default info */
  readonly level?: LogLevel
  /** How messages name options. Default: by their names in code; a command's users write flags. */
  readonly wording?: Omit<ProblemWording, 'elsewhere'> | undefined
}

type Chosen = Pick<ResolvedOptions, 'logger' | 'pretty'>

/**
 * How a life is read: by programs, or by people on a terminal (docs/decisions/0026). The code for
 * people is loaded when there are some.
 */
export class Output {
  readonly #chosen: Chosen
  readonly #log: DefaultLog
  readonly #isForPeople: boolean
  readonly #stallMs: () => number

  /** @param stallMs how long the end waits for a reader of the log that takes nothing */
  constructor(host: Host, chosen: Chosen, log: DefaultLog, stallMs: () => number) {
    this.#stallMs = stallMs
    this.#chosen = chosen
    this.#log = log
    // A world of tests has no people.
    this.#isForPeople = host.process === process && isForPeople(chosen.pretty, process)
  }

  /** @param isRun whether `run()` was called */
  async openLogger(isRun: boolean): Promise<Logger | false> {
    const { logger } = this.#chosen
    if (logger !== undefined) return logger
    const { isForAll, level } = this.#log
    if (!this.#isPretty(isRun)) return isForAll && createDefaultLogger({ level, stallMs: this.#stallMs })
    const { terminalOfProcess } = await import('../terminal/presentation.ts')
    return createDefaultLogger({ level, format: terminalOfProcess().format, stallMs: this.#stallMs })
  }

  /**
   * Whether there is nothing that errors are logged to, although the user has not asked for that.
   * @param isRun whether `run()` was called
   */
  hasNoLogger(isRun: boolean): boolean {
    return this.#chosen.logger === undefined && !this.#log.isForAll && !this.#isPretty(isRun)
  }

  #isPretty(isRun: boolean): boolean {
    return this.#isForPeople && (this.#log.isForAll || isRun)
  }

  /** Shows a life, beside a logger of the user's only when that was asked for. */
  present(life: PresentedLife, endsBySignal: (signal: StopSignal) => boolean): Promise<Presentation> | undefined {
    const { logger, pretty } = this.#chosen
    if (!this.#isForPeople || logger === false || (logger !== undefined && pretty !== true)) return undefined
    return import('../terminal/presentation.ts').then(({ Presentation }) => new Presentation(life, endsBySignal))
  }
}
