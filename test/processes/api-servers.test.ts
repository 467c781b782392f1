import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { TestProcess } from '../support/process.ts'

const EXAMPLE = fileURLToPath(new URL('../../docs/examples/api-servers.mjs', import.meta.url))

test('three API servers in a row are one server, with one life', async () => {
  const program = new TestProcess([process.execPath, EXAMPLE], { env: { PORT: '0' }, speaksOn: 'stdout' }, '')
  const serving = () => program.log.find(({ msg }) => msg.startsWith('Serving on'))
  while (!serving()) await program.next()
  const port = Number(serving()?.['port'])
  const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`)

  const paths = ['/apis/metrics.example/v1/nodes', '/api/v1/pods', '/apis/shop.example/v1/orders']
  for (const path of paths) await expect.poll(async () => (await ask(path)).status, { message: path }).toBe(200)
  const { paths: listed } = (await (await ask('/')).json()) as { readonly paths: readonly string[] }
  expect(listed).toEqual(expect.arrayContaining([...paths, '/healthz/store', '/readyz/store']))
  await expect.poll(async () => (await ask('/readyz')).status).toBe(200)

  const watch = await ask('/api/v1/pods?watch=true')
  program.signal('SIGTERM')
  expect((await watch.text()).trimEnd().split('\n').at(-1)).toContain('the server ends: watch another one')
  expect((await program.ended()).code).toBe(0)
})
