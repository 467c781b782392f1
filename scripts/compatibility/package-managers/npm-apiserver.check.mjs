// npm, with @quiesce/apiserver
// set: package-managers
// variants: Node 20; Node 24
import { join } from 'node:path'

/** Runs the command that it is given, asks it by HTTPS, stops it meanwhile, and prints what came of it. */
const CLIENT = `import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { get } from 'node:https'

const [command, ...args] = process.argv.slice(2)
const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
const ended = once(child, 'exit')
let log = ''
child.stdout.setEncoding('utf8').on('data', (chunk) => (log += chunk))
while (!/Serving on https:\\S+:(\\d+)/.test(log)) {
  if (child.exitCode !== null) throw new Error('it ended before it served: ' + log)
  await new Promise((later) => setTimeout(later, 20))
}
const [, port] = /Serving on https:\\S+:(\\d+)/.exec(log)
const answered = new Promise((resolve, reject) => {
  get({ port, host: '127.0.0.1', path: '/', rejectUnauthorized: false }, async (response) => {
    let text = ''
    for await (const chunk of response) text += chunk
    resolve(response.statusCode + ' ' + text)
  }).on('error', reject)
})
await new Promise((later) => setTimeout(later, 400))
child.kill('SIGTERM')
console.log('ANSWER ' + (await answered))
const [code, signal] = await ended
console.log('END ' + (signal ?? code))
`

/** Takes a second, so that it is surely under way when the signal comes. */
const APP = "export default { listener: (_, response) => setTimeout(() => response.end('done'), 1000) }\n"

/** The same, made by the package. */
const SERVER = `import { completeConfig, createApiServer } from '@quiesce/apiserver'
import { QuiesceError } from 'quiesce'

const server = createApiServer(completeConfig({ port: Number(process.env.PORT), host: '127.0.0.1', deadline: '8s', logger: false }))
server.handle('/slow', (_, response) => setTimeout(() => response.end('done'), 1000))
const prepared = server.prepare()
const { life } = prepared
life.signal('Bound').addEventListener('abort', () => console.log('PORT ' + life.addresses[0].port))
try {
  createApiServer({})
} catch (thrown) {
  if (!(thrown instanceof QuiesceError)) throw new Error('the error is one of another copy of quiesce')
}
await prepared.run()
`

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ variant, folder, tarball, apiServerTarball, write, run, drains, runtime }) => {
  const node = runtime(variant)
  const dependencies = { quiesce: `file:${tarball}`, '@quiesce/apiserver': `file:${apiServerTarball}` }
  write('package.json', JSON.stringify({ private: true, type: 'module', dependencies }))
  await run(['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', '--no-workspaces'])
  const app = write('app.mjs', APP)
  const client = write('client.mjs', CLIENT)
  const bin = join(folder, 'node_modules/.bin')
  for (const program of [[join(bin, 'quiesce-apiserver')], [join(bin, 'quiesce'), 'apiserver']]) {
    const printed = await run([
      ...node,
      client,
      ...node,
      ...program,
      app,
      '--secure-port',
      '0',
      '--bind-address',
      '127.0.0.1',
      '--deadline',
      '8s',
    ])
    if (!/^ANSWER 200 done$/m.test(printed) || !/^END 0$/m.test(printed)) throw new Error(`${program.join(' ')}:\n${printed}`)
  }
  const completion = await run([...node, join(bin, 'quiesce'), 'completion', 'bash'])
  if (!completion.includes('--secure-port')) throw new Error('quiesce completion bash knows no flag of the API server')
  await drains([...node, write('server.mjs', SERVER)], { path: '/slow', env: { PORT: '0' } })
}
