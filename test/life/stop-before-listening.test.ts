// A stop that comes before the attached server listens: its owner has not called listen() yet, or
// the system has not answered. Fails when: the server listens after the end of its life, or cannot
// be used by its owner after dispose().
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { newAttachedLife } from '../support/life.ts'

function ownServer(): Server {
  const server = createServer((_, response) => void response.end('hello'))
  onTestFinished(() => void server.close())
  return server
}

test('a server that begins to listen after the end is closed at once', async () => {
  const server = ownServer()
  const t = newAttachedLife(server)
  expect(await t.end()).toMatchObject({ exitCode: 0, listeners: [] })
  server.listen(0, '127.0.0.1')
  await once(server, 'close')
  expect(server.listening).toBe(false)
})

test('so is one whose listen() was under way', async () => {
  const server = ownServer()
  const t = newAttachedLife(server)
  const started = t.life.start()
  started.catch(() => undefined)
  await t.fired('AuditRunning')
  // A name has to be looked up, so that it cannot listen in the same step.
  server.listen(0, 'localhost')
  const closed = once(server, 'close')
  expect(await t.end()).toMatchObject({ exitCode: 0 })
  await expect(started).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
  await closed
  expect(server.listening).toBe(false)
})

test('after dispose() it is its owner’s to listen with', async () => {
  const server = ownServer()
  const t = newAttachedLife(server)
  await t.end()
  t.life.dispose()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('hello')
  server.closeAllConnections()
})
