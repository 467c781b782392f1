// fastify start, of fastify-cli 8, with the plugin
// packages: fastify-cli, fastify
// set: crash-reporters
import { join } from 'node:path'
import { freePort } from '../../../test/support/free-port.mjs'

export default async (cell) => {
  const app = cell.write(
    'app.mjs',
    `import quiesce from 'quiesce/fastify'
export default async function (app, _options) {
  await app.register(quiesce, { deadline: '8s' })
  app.get('/', async () => {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return 'done'
  })
  app.addHook('onListen', async () => console.log('PORT ' + app.server.address().port))
}
`,
  )
  const command = [
    ...cell.runtime(cell.variant),
    join(cell.modules, 'fastify-cli/cli.js'),
    'start',
    '-a',
    '127.0.0.1',
    '-p',
    // fastify-cli prints no port that it has chosen itself.
    String(await freePort()),
    app,
  ]
  await cell.drains(command)
  await cell.drains(command, { stop: 'SIGINT' })
}
