// @ts-check
/** Tests in ES modules, for a runner whose `test` is imported in front. */
export const ES_TEST = `import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { attachLifecycle } from 'quiesce'
import { testServer } from 'quiesce/testing'

test('a life', async () => {
  const life = attachLifecycle(createServer((_, response) => response.end('done')).listen(0))
  await life.start()
  assert.equal(await (await fetch('http://127.0.0.1:' + life.addresses[0].port + '/')).text(), 'done')
  assert.equal((await life.stop('over')).exitCode, 0)
})

test('a life on virtual time', async () => {
  const life = await testServer(() => new Response('done'), { shutdownDelay: '5s' })
  life.process.signal('SIGTERM')
  await life.clock.runToEnd()
  assert.equal(life.report.exitCode, 0)
})
`
