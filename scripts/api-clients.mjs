// @ts-check
// `npm run test:api-clients`: what clients of Kubernetes, as they are, are told of objects whose server is ended and started again under them:
// client-go's informer and its watch (Go is needed), the informer of @kubernetes/client-node, and the watch of the Python client. Each has to
// see every event once, in order. The clients are fetched from their registries into a folder of their own. `-- go` for some of them.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clientPrograms } from '../test/api-clients/programs.mjs'
import { runClient } from '../test/api-clients/world.mjs'
import { givenArguments, refuseUsage } from './usage.mjs'

const { positionals: chosen } = givenArguments({ allowPositionals: true })
const folder = mkdtempSync(join(tmpdir(), 'quiesce-api-clients-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const programs = Object.entries(clientPrograms(folder))
const unknown = chosen.find((each) => !programs.some(([name]) => name.startsWith(each)))
if (unknown !== undefined)
  refuseUsage(`got ${JSON.stringify(unknown)}, allowed: the beginning of ${programs.map(([name]) => name).join(', ')}`)
for (const [name, command] of programs) {
  if (chosen.length > 0 && !chosen.some((each) => name.startsWith(each))) continue
  const { wrong, events } = await runClient(command())
  console.log(`${name}: ${wrong === '' ? `${events} events, each once` : wrong}`)
  if (wrong !== '') process.exitCode = 1
}
process.exit()
