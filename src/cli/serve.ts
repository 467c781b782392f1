import { systemHost } from '../actors/host.ts'
import type { BoundAddress } from '../actors/listener.ts'
import { apiserverWording } from '../base/apiserver-wording.ts'
import { systemClock } from '../base/clock.ts'
import { createServerOn } from '../create-server.ts'
import { addExampleHooks, createExampleApp, EXAMPLE_OPTIONS } from '../example/app.ts'
import { startDrill } from '../example/drill.ts'
import { Registry } from '../example/registry.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { createDefaultLogger } from '../log/log.ts'
import { stdoutDestination } from '../log/log-destination.ts'
import type { ServerOptions } from '../options/options.ts'
import { renderReport } from '../report/render-report.ts'
import { type CliHost, renderOptions } from './cli.ts'
import type { ServeSettings } from './flags.ts'
import { drainLines } from './live/drain-lines.ts'
import { LiveView } from './live/live-view.ts'
import { prettyFormat } from './pretty.ts'

/** Longest wait for a terminal that has been stopped, once everything else is over. */
const LAST_WRITE_MS = 500
/** A terminal that does not know its size says 0, or nothing. */
const SIZE_DEFAULT = { columns: 80, rows: 24 }

/**
 * `quiesce serve`: the example application with a whole life around it.
 *
 * @param release lets go of the stop signals, once the server has them
 */
export async function serve({ options, logLevel, pretty }: ServeSettings, host: CliHost, release: () => void): Promise<void> {
  const forPeople = pretty ?? host.stdout.isTTY === true
  const rendering = renderOptions(host)
  const destination = stdoutDestination()
  const view = forPeople && host.stdout.isTTY === true && !isDumb(host) ? liveView(host, () => server) : undefined
  const format = prettyFormat(rendering)
  const logger = await createDefaultLogger({
    level: logLevel,
    destination,
    ...(forPeople && { format: (line) => (view ? view.above(format(line)) : format(line)) }),
  })
  const registry = new Registry()
  const server: Lifecycle = createServerOn(systemHost, createExampleApp({ registry }), {
    ...EXAMPLE_OPTIONS,
    wording: apiserverWording,
    ...options,
    ...withActions(options, () => startDrill(urlOf(server.addresses[0]), systemClock)),
    logger,
    signal: host.earlyStop,
  })
  addExampleHooks(server, { registry })
  if (view) showWhileEnding(view, server)
  const ended = server.run()
  // In the same turn: no signal can come in between.
  release()
  const report = await ended
  if (!forPeople) return
  const timeline = `\n${renderReport(report, rendering)}`
  if (host.stdout.isTTY !== true) {
    host.stdout.write(timeline)
    return
  }
  // The way of the log, because a terminal that has been stopped would hold the process for ever.
  destination.write(timeline)
  await destination.flushBounded(LAST_WRITE_MS)
}

/** A terminal that cannot move its cursor. */
const isDumb = ({ env }: CliHost): boolean => env['TERM'] === 'dumb'

function liveView(host: CliHost, server: () => Lifecycle): LiveView {
  const { color } = renderOptions(host)
  return new LiveView({
    clock: systemClock,
    terminal: stdoutDestination(),
    size: () => ({ columns: host.stdout.columns || SIZE_DEFAULT.columns, rows: host.stdout.rows || SIZE_DEFAULT.rows }),
    lines: (width, height) => {
      const progress = server().progress()
      return progress ? drainLines(progress, server().gauges(), { width, height, color }) : []
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

/** All who may look at the example server may also end it: that is what it is for. */
function withActions({ inspector }: ServerOptions, drill: () => unknown): Pick<ServerOptions, 'inspector'> {
  if (!inspector) return {}
  return { inspector: { ...(inspector === true ? {} : inspector), actions: true, drill } }
}

/**
 * Where this process reaches a listener of its own: one on all addresses is reached on the loopback
 * one.
 */
const urlOf = (address: BoundAddress | undefined): string =>
  address === undefined ? '' : address.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
