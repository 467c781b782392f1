// @ts-check
/** What a program imports of each entry, and does with it. */
const PROGRAM = `import { createServer as createHttpServer } from 'node:http'
import { attachLifecycle, createServer, QuiesceError, type Life, type Report } from 'quiesce'
import plugin, { quiesce as samePlugin } from 'quiesce/fastify'
import { serve } from 'quiesce/hono'
import * as metrics from 'quiesce/metrics'
import { Quiesce, QuiesceModule } from 'quiesce/nest'
import * as opentelemetry from 'quiesce/opentelemetry'
import fastify from 'fastify'

export async function main(): Promise<Report> {
  const life: Life = attachLifecycle(createHttpServer(), { deadline: '25s', health: true })
  life.addReadyzCheck('db', async () => {})
  const app = fastify()
  await app.register(plugin, { deadline: '25s' })
  app.life.addReadyzCheck('db', async () => {})
  try {
    await life.start()
  } catch (thrown) {
    if (thrown instanceof QuiesceError) console.log(thrown.code)
  }
  return createServer(() => new Response('done'), { port: 0 }).run()
}
export const all = [samePlugin, serve, metrics, Quiesce, QuiesceModule, opentelemetry]
`

/** The entry that is about xstate by nature: it explores machines. */
const TEST = `import { testServer, type TestLife } from 'quiesce/testing'

export async function test(): Promise<void> {
  const life: TestLife = await testServer(() => new Response('done'))
  life.process.signal('SIGTERM')
}
`

/** What a program imports of the package beside, which has ES modules alone. */
const API_SERVER = `import { createServer, QuiesceError } from 'quiesce'
import { type ApiHandler, apiGroup, completeConfig, createApiServer, defineResource, memoryStorage } from '@quiesce/apiserver'
import { RecordingAuthorizer } from '@quiesce/apiserver/testing'

const answer: ApiHandler = (_request, response) => response.end('done')
const group = 'demo.example'
const widgets = defineResource({ group, kind: 'Widget', plural: 'widgets', scope: 'Namespaced', versions: { v1: { schema: {} } } })

export async function main(): Promise<void> {
  const server = createApiServer(completeConfig({ port: 0, deadline: '25s', authorizer: new RecordingAuthorizer() }))
  server.handle('/slow', answer)
  server.installApiGroups(apiGroup({ group, versions: { v1: [{ resource: widgets, storage: memoryStorage().resource() }] } }))
  server.addPostStartHook('ask', ({ loopback }) => loopback.fetch('/version'))
  await server.prepare().run()
}
export const both = [createServer, QuiesceError]
`

/**
 * Compiles all with the strictest settings, libraries included: no error may be in a program or in our
 * types, and none in those of xstate, of which exactOptionalPropertyTypes finds some, but through
 * quiesce/testing. What other packages have is theirs.
 * @param {import('../compatibility.mjs').Cell} cell @param {Record<string, unknown>} settings @param {string} [extension]
 */
export async function checkTypes({ variant, modules, write, run }, settings, extension = 'ts') {
  write('package.json', '{ "private": true, "type": "module" }')
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    esModuleInterop: true,
    ...settings,
    ...(settings['moduleResolution'] === 'node10' && variant === 'TypeScript 6.0' ? { ignoreDeprecations: '6.0' } : {}),
  }
  /** Compilers that resolve as node10 does know no entry of an ES module alone. */
  const programs = new Set(
    settings['module'] === 'nodenext' ? ['test', 'api-server'] : settings['moduleResolution'] === 'bundler' ? ['api-server'] : [],
  )
  const compiler = `${modules}/${variant.toLowerCase().replace(' ', '-')}/bin/tsc`
  for (const [name, text, others] of /** @type {const} */ ([
    ['app', PROGRAM, /node_modules\/(?!quiesce\/|xstate\/)/],
    ['test', TEST, /node_modules\/(?!quiesce\/)/],
    ['api-server', API_SERVER, /node_modules\/(?!quiesce\/|@quiesce\/|xstate\/)/],
  ]).filter(([name]) => name === 'app' || (extension === 'ts' && programs.has(name)))) {
    write(`${name}.${extension}`, text)
    write('tsconfig.json', JSON.stringify({ compilerOptions, files: [`${name}.${extension}`] }))
    const output = await run([process.execPath, compiler, '-p', '.', '--pretty', 'false']).catch(({ message }) => String(message))
    const ours = output.split('\n').filter((line) => /error TS/.test(line) && !others.test(line))
    if (ours.length > 0) throw new Error(ours.join('\n'))
  }
}
