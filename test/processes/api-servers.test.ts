import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { TestProcess } from '../support/process.ts'

const EXAMPLE = fileURLToPath(new URL('../../examples/api-servers.mjs', import.meta.url))

test('three API servers in a row are one server, with one life', async () => {
  const program = new TestProcess([process.execPath, EXAMPLE], { env: { PORT: '0' }, speaksOn: 'stdout' }, '')
  const serving = () => program.log.find(({ msg }) => msg.startsWith('Serving on'))
  while (!serving()) await program.next()
  const port = Number(serving()?.['port'])
  const ask = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`)

  const paths = ['/load', '/apis/kitchen.example/v1', '/apis/shop.example/v1']
  for (const path of paths) await expect.poll(async () => (await ask(path)).status, { message: path }).toBe(200)
  const { paths: listed } = (await (await ask('/')).json()) as { readonly paths: readonly string[] }
  expect(listed).toEqual(expect.arrayContaining([...paths, '/healthz/kitchen', '/readyz/kitchen']))
  await expect.poll(async () => (await ask('/readyz')).status).toBe(200)

  const watch = await ask('/apis/kitchen.example/v1/kettles?watch=true&allowWatchBookmarks=true')
  program.signal('SIGTERM')
  const frames = (await watch.text()).trimEnd().split('\n')
  expect(frames[0]).toContain('"name":"old"')
  expect(frames.at(-1)).toContain('{"type":"BOOKMARK"')
  expect((await program.ended()).code).toBe(0)
})
