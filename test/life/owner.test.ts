// What the owner of an attached server may do around its life, in the order that is natural to
// them. Fails when: close() in a pre-shutdown hook, or in a phase that the close waits for, waits
// for itself, or a server that listens again is still refused by the life that ended.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { newAttachedLife } from '../support/life.ts'
import { fresh } from '../support/upstream-client.ts'
import { Roadblock } from '../support/upstream-server.ts'

async function listening(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

test('Fastify’s close() in a pre-shutdown hook does not wait for itself: requests are answered, exit code 0, and a warning', async () => {
  const slow = new Roadblock()
  const app = fastify()
  const closed: string[] = []
  app.addHook('onClose', () => void closed.push('onClose'))
  app.get('/slow', () => slow.pass().then(() => 'done'))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const t = newAttachedLife(app.server)
  t.life.addPreShutdownHook('fastify', () => app.close())
  await t.life.start()
  const answer = t.get('/slow')
  await slow.reached
  const ended = t.life.stop()
  await t.fired('PreShutdownHooksStopped')
  expect(closed).toEqual(['onClose'])
  slow.release()
  expect(await answer).toMatchObject({ status: 200, body: 'done' })
  expect(await t.end(ended)).toMatchObject({
    exitCode: 0,
    hooks: [{ name: 'fastify', outcome: 'ok' }],
    warnings: [{ message: expect.stringContaining('addDestroy()') as string }],
  })
})

test.each([
  ['before the listener closes: is called back at once, with a warning', { after: ['ShutdownInitiated'], before: ['not-accepting'] }, 1],
  ['beside that: waits for the close itself', { after: ['ShutdownInitiated'] }, 0],
])('close() in a phase %s', async (_, place, warnings) => {
  const server = createServer((_, response) => void response.end('hello'))
  await listening(server)
  const t = newAttachedLife(server)
  let isListening: boolean | undefined
  const close = async (): Promise<void> => {
    await new Promise((resolve) => server.close(resolve))
    isListening = server.listening
  }
  t.life.addPhase('framework', close, place)
  await t.life.start()
  const report = await t.end()
  expect(report.exitCode).toBe(0)
  expect(report.warnings).toHaveLength(warnings)
  expect(isListening).toBe(warnings === 1)
})

test('a server that listens again after its life has ended is an ordinary server, and may have another life', async () => {
  const server = createServer((_, response) => void response.end('hello'))
  await listening(server)
  const first = newAttachedLife(server)
  await first.life.start()
  await first.end()
  // Its owner's framework closes it once more, which is no error of theirs.
  await new Promise<void>((resolve, reject) => server.close((error) => (error ? reject(error) : resolve())))

  const port = await listening(server)
  expect(await fresh(port, '/')).toMatchObject({ status: 200, body: 'hello' })
  const second = newAttachedLife(server)
  await second.life.start()
  expect(await fresh(port, '/livez')).toMatchObject({ status: 200, body: 'ok' })
  expect(await second.end()).toMatchObject({ exitCode: 0 })
})

test('a server that is given back before the start is waited for as long as it takes, and stays its owner`s', async () => {
  const server = createServer((_, response) => void response.end('theirs'))
  onTestFinished(() => void server.close())
  const t = newAttachedLife(server, { clock: new VirtualClock() })
  ;(t.life as unknown as Disposable)[Symbol.dispose]()
  const started = t.life.start()
  await expect.poll(() => server.listenerCount('listening')).toBeGreaterThan(0)
  await t.clock.advance(60_000)
  expect(t.hasFired('StopRequested')).toBe(false)
  server.listen(0, '127.0.0.1')
  await started
  expect((await t.end()).exitCode).toBe(0)
  expect((await fresh((server.address() as AddressInfo).port, '/')).body).toBe('theirs')
})
