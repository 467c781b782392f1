import { createDefaultLogger } from '../actors/log.ts'
import { createServer } from '../create-server.ts'
import { addExampleHooks, createExampleApp, EXAMPLE_OPTIONS } from '../example/app.ts'
import { Registry } from '../example/registry.ts'
import { renderReport } from '../render-report.ts'
import { type CliHost, renderOptions } from './cli.ts'
import type { ServeSettings } from './flags.ts'
import { prettyFormat } from './pretty.ts'

/** `quiesce serve`: the example application with a whole life around it. */
export async function serve({ options, logLevel, pretty }: ServeSettings, host: CliHost): Promise<void> {
  const forPeople = pretty ?? host.stdout.isTTY === true
  const rendering = renderOptions(host)
  const logger = await createDefaultLogger({ level: logLevel, ...(forPeople && { format: prettyFormat(rendering) }) })
  const registry = new Registry()
  const server = createServer(createExampleApp({ registry }), { ...EXAMPLE_OPTIONS, ...options, logger })
  addExampleHooks(server, { registry })
  const report = await server.run()
  if (forPeople) host.stdout.write(`\n${renderReport(report, rendering)}`)
}
