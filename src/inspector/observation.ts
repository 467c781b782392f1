import type { AnyActor } from 'xstate'
import { Listener } from '../actors/listener.ts'
import { toError } from '../base/errors.ts'
import { errorRecord, type LifecycleEvent } from '../base/events.ts'
import type { ObservedLife } from '../lifecycle/parts.ts'
import { type Composition, effectiveWiring } from '../machines/lifecycle.ts'
import type { Report } from '../report/report.ts'
import { ActorWatch, type WatchedSystem } from './actor-watch.ts'
import { describedPhases } from './described-phases.ts'
import { gaugesPoll } from './gauges-poll.ts'
import { Journal } from './journal.ts'
import { JournalFile } from './journal-file.ts'
import { Polled } from './polled.ts'
import type { GaugesEntry, OpeningEntry, SetupEntry } from './protocol.ts'
import type { Inspector } from './server/inspector.ts'
import { setupPoll } from './setup-poll.ts'

/** What watches a life, if its options ask for the inspector or a journal. */
export const observationOf = (life: ObservedLife): Observation | undefined =>
  life.options.inspector || life.options.journal !== undefined ? new Observation(life) : undefined

/**
 * How a life is observed: its journal, who fills it, and where it goes: to a file, to the
 * inspector's readers. Nothing here decides anything, and nothing that fails here changes the life.
 */
class Observation {
  readonly #life: ObservedLife
  readonly #journal: Journal
  readonly #gauges: Polled<GaugesEntry>
  readonly #setup: Polled<SetupEntry>
  #actors: ActorWatch | undefined
  #inspector: { readonly page: Inspector; readonly listener: Listener } | undefined
  #flushOnExit: (() => void) | undefined

  constructor(life: ObservedLife) {
    this.#life = life
    this.#journal = new Journal(() => life.status.elapsed)
    const { write } = this.#journal
    const { clock } = life.host
    const setup = setupPoll(
      () => life.plan(),
      () => life.status.readiness(),
    )
    this.#setup = new Polled(clock, setup, write)
    this.#gauges = new Polled(
      clock,
      gaugesPoll(() => life.status.gauges()),
      write,
    )
    this.#journal.addSource(this.#setup)
    this.#journal.addSource(this.#gauges)
  }

  /** A sink of events. */
  readonly fact = (event: LifecycleEvent): void => {
    this.#journal.fact(event)
    this.#setup.fact(event)
    this.#gauges.fact(event)
  }

  /**
   * Begins the journal. Call it before the machine starts, so that a journal file has everything.
   */
  begin(root: AnyActor): void {
    this.#journal.open(this.#opening())
    // What xstate's own type leaves out is there: an actor's parent and logic.
    const { options } = this.#life
    this.#actors = new ActorWatch(root as unknown as WatchedSystem, this.#journal.write, this.#life.beside)
    this.#journal.addSource(this.#actors)
    if (options.journal !== undefined) this.#writeTo(options.journal)
  }

  /**
   * The listener of the inspector, if there is to be one. It is bound like the others, and closed
   * by {@link end}.
   */
  async open(): Promise<Listener[]> {
    const { options } = this.#life
    if (!options.inspector) return []
    const [{ Inspector }, { definitionText }] = await Promise.all([import('./server/inspector.ts'), import('./server/official.ts')])
    const page = new Inspector(options.inspector, {
      journal: this.#journal,
      report: () => this.#life.status.report,
      composition: () => this.#composition(),
      definitionOf: (machine) => definitionText(this.#actors?.configOf(machine)),
      elapsed: () => this.#life.status.elapsed,
      stop: () => this.#life.requestStop({ kind: 'stop', reason: 'asked for in the inspector' }),
      sayUrl: (url) => this.#life.sayUnrecorded({ url }, `Inspector on ${url}`),
    })
    const { port, host } = options.inspector
    const listener = new Listener(page.server, { port, host, option: 'inspector' }, 'inspector')
    this.#inspector = { page, listener }
    return [listener]
  }

  /**
   * The last entry is written: in the file, and as far as the sockets take it, when this returns;
   * with every reader when it resolves, or when `boundMs` are over. Then the inspector is closed.
   */
  async end(report: Report, boundMs: number): Promise<void> {
    const { clock, process } = this.#life.host
    const handedOn = this.#journal.end(report)
    if (this.#flushOnExit) process.off('exit', this.#flushOnExit)
    let timer: unknown
    const bound = new Promise<void>((resolve) => {
      timer = clock.setTimeout(resolve, boundMs)
    })
    await Promise.race([handedOn, bound])
    clock.clearTimeout(timer)
    this.#inspector?.listener.close()
    this.#inspector?.page.close()
  }

  #writeTo(path: string): void {
    const { host, record } = this.#life
    const failed = (error: unknown): void => record({ type: 'error', where: 'journal', error: errorRecord(toError(error)) })
    try {
      const file = new JournalFile(path, this.#journal, failed)
      this.#flushOnExit = () => file.flushNow()
      // Other code may end the process in the middle of the life.
      host.process.on('exit', this.#flushOnExit)
      this.#journal.attach(file)
    } catch (thrown) {
      failed(thrown)
    }
  }

  /** What is registered may not fit together; then the life is one without it, which only ends. */
  #composition(): Composition {
    try {
      const plan = this.#life.plan()
      effectiveWiring(plan)
      return plan
    } catch {
      // start() says so.
      return { mode: this.#life.options.whileDraining }
    }
  }

  #opening(): OpeningEntry {
    const { host, options, status } = this.#life
    const { pid } = host.process
    return {
      kind: 'opening',
      format: 1,
      source: 'life',
      title: `process ${pid}`,
      wallAtStart: new Date(host.clock.wall() - status.elapsed).toISOString(),
      pid,
      mode: options.whileDraining,
      phases: describedPhases(this.#composition()),
      deadlineMs: options.deadlineMs,
    }
  }
}
