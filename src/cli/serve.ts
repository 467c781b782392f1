import { createDefaultLogger } from '../actors/log.ts'
import { createServer } from '../create-server.ts'
import { addExampleHooks, createExampleApp, EXAMPLE_OPTIONS } from '../example/app.ts'
import { Registry } from '../example/registry.ts'
import type { ServerOptions } from '../options/options.ts'
import { renderReport } from '../report/render-report.ts'
import { type CliHost, renderOptions } from './cli.ts'
import { firstLine } from './first-line.ts'
import type { ServeSettings } from './flags.ts'
import { prettyFormat } from './pretty.ts'

/**
 * `quiesce serve`: the example application with a whole life around it.
 *
 * @param release lets go of the stop signals, once the server has them
 */
export async function serve({ options, logLevel, pretty }: ServeSettings, host: CliHost, release: () => void): Promise<void> {
  const forPeople = pretty ?? host.stdout.isTTY === true
  const rendering = renderOptions(host)
  const logger = await createDefaultLogger({ level: logLevel, ...(forPeople && { format: prettyFormat(rendering) }) })
  const registry = new Registry()
  const server = createServer(createExampleApp({ registry }), {
    ...EXAMPLE_OPTIONS,
    ...options,
    ...withActions(options),
    logger,
    signal: host.earlyStop,
  })
  addExampleHooks(server, { registry })
  const ended = server.run()
  // In the same turn: no signal can come in between.
  release()
  const report = await ended
  // The log has it too, among the fields of an entry, and nobody may read the log of what never served.
  if (report.reason?.kind === 'start-failed') host.stderr.write(`quiesce: ${firstLine(report.reason.error.message)}\n`)
  if (forPeople) host.stdout.write(`\n${renderReport(report, rendering)}`)
}

/** Whoever may look at the example server may also end it: that is what it is for. */
function withActions({ inspector }: ServerOptions): Pick<ServerOptions, 'inspector'> {
  if (!inspector) return {}
  return { inspector: { ...(inspector === true ? {} : inspector), actions: true } }
}
