import { systemClock } from '../base/clock.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { createDefaultLogger, type Logger } from '../log/log.ts'
import { stdoutDestination } from '../log/log-destination.ts'
import { renderReport } from '../report/render-report.ts'
import type { Report } from '../report/report.ts'
import { type CliHost, renderOptions } from './cli.ts'
import type { ServeSettings } from './flags.ts'
import { drainLines } from './live/drain-lines.ts'
import { LiveView } from './live/live-view.ts'
import { prettyFormat } from './pretty.ts'

/** Longest wait for a terminal that has been stopped, once everything else is over. */
const LAST_WRITE_MS = 500
/** A terminal that does not know its size says 0, or nothing. */
const SIZE_DEFAULT = { columns: 80, rows: 24 }

/** How a command shows a life that it runs. */
export interface Presentation {
  /** For the life. */
  readonly logger: Logger
  /** On a terminal, what its end waits for is shown below the log. */
  follow(life: Lifecycle): void
  /** Writes the timeline, for people. */
  finish(report: Report): Promise<void>
}

/** For people on a terminal, for programs in a pipe, or as the settings say. */
export async function presentationOn(
  host: CliHost,
  { logLevel, pretty }: Pick<ServeSettings, 'logLevel' | 'pretty'>,
): Promise<Presentation> {
  const forPeople = pretty ?? host.stdout.isTTY === true
  const rendering = renderOptions(host)
  const destination = stdoutDestination()
  let followed: Lifecycle | undefined
  const view = forPeople && host.stdout.isTTY === true && !isDumb(host) ? liveView(host, () => followed) : undefined
  const format = prettyFormat(rendering)
  const logger = await createDefaultLogger({
    level: logLevel,
    destination,
    ...(forPeople && { format: (line) => (view ? view.above(format(line)) : format(line)) }),
  })
  return {
    logger,
    follow: (life) => {
      followed = life
      if (view) showWhileEnding(view, life)
    },
    finish: async (report) => {
      if (!forPeople) return
      const timeline = `\n${renderReport(report, rendering)}`
      if (host.stdout.isTTY !== true) {
        host.stdout.write(timeline)
        return
      }
      // The way of the log, because a terminal that has been stopped would hold the process for
      // ever.
      destination.write(timeline)
      await destination.flushBounded(LAST_WRITE_MS)
    },
  }
}

/** A terminal that cannot move its cursor. */
const isDumb = ({ env }: CliHost): boolean => env['TERM'] === 'dumb'

function liveView(host: CliHost, life: () => Lifecycle | undefined): LiveView {
  const { color } = renderOptions(host)
  return new LiveView({
    clock: systemClock,
    terminal: stdoutDestination(),
    size: () => ({ columns: host.stdout.columns || SIZE_DEFAULT.columns, rows: host.stdout.rows || SIZE_DEFAULT.rows }),
    lines: (width, height) => {
      const progress = life()?.progress()
      return progress ? drainLines(progress, (life() as Lifecycle).gauges(), { width, height, color }) : []
    },
  })
}

/** From the stop request to the report: what is written after that is for the terminal to keep. */
function showWhileEnding(view: LiveView, { events$ }: Lifecycle): void {
  events$.subscribe((event) => {
    if (event.type === 'signal' && event.name === 'StopRequested') view.start()
    const isOver = (event.type === 'phase.started' && event.phase === 'report') || event.type === 'forced' || event.type === 'ended'
    if (isOver) view.stop()
  })
}
