// Fails when: of several listeners some are left bound although one cannot be, the error does not
// say which, a server that was attached with others serves alone, ends alone or keeps its gate, or
// one of the listeners goes on accepting when the others have stopped.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Server } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { QuiesceError } from '#src/index.ts'
import { newAttachedLife, newLife, refusal } from '../support/life.ts'
import { RawClient } from '../support/raw-client.ts'
import { fresh } from '../support/upstream-client.ts'

const LOOPBACK = '127.0.0.1'

async function listening<S extends Server>(server: S): Promise<number> {
  server.listen(0, LOOPBACK)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as { port: number }).port
}

/** The error code of a connection, or that it was accepted. */
const reached = (port: number, host = LOOPBACK): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ port, host })
    socket.once('connect', () => {
      socket.destroy()
      resolve('accepted')
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
  })

describe('listeners of which one cannot be bound', () => {
  test('are none: the first is closed again, and the error names the second', async () => {
    const taken = await listening(createServer())
    const rig = newLife({
      options: {
        listeners: [
          { port: 0, host: LOOPBACK },
          { port: taken, host: LOOPBACK },
        ],
      },
    })
    const failed = (await rig.life.start().catch((error: unknown) => error)) as QuiesceError
    expect(failed.code).toBe('ERR_START')
    const { code, message } = failed.cause as QuiesceError
    expect(code).toBe('ERR_LISTEN')
    expect(message).toContain(`failed to listen on ${LOOPBACK}:${taken}:`)
    const report = await rig.life.ended
    expect(report.exitCode).toBe(3)
    const [first, ...others] = rig.life.addresses
    expect(others).toEqual([])
    expect(await reached(first?.port as number)).toBe('ECONNREFUSED')
    expect(report.listeners).toEqual([expect.objectContaining({ url: first?.url })])
  })
})

test('listeners on IPv4 and IPv6 serve both, and stop together', async () => {
  const rig = newLife({
    options: {
      listeners: [
        { port: 0, host: LOOPBACK },
        { port: 0, host: '::1' },
      ],
    },
  })
  await rig.life.start()
  const [four, six] = rig.life.addresses
  expect(six?.url).toBe(`http://[::1]:${six?.port}`)
  expect(await (await fetch(`${four?.url}/`)).text()).toBe('hello')
  expect(await (await fetch(`${six?.url}/`)).text()).toBe('hello')
  const report = await rig.end()
  expect(await Promise.all([reached(four?.port as number), reached(six?.port as number, '::1')])).toEqual(['ECONNREFUSED', 'ECONNREFUSED'])
  expect(report.listeners.map(({ url }) => url)).toEqual([four?.url, six?.url])
})

describe('several servers of an owner', () => {
  test('are one unit: the life serves once all of them listen, and what is in flight on one holds both', async () => {
    let answer = (): void => {}
    const slow = createServer((_, response) => {
      answer = () => void response.end('whole')
    })
    const quick = createServer((_, response) => void response.end('quick'))
    const rig = newAttachedLife([slow, quick])
    const started = rig.life.start()
    const port = await listening(slow)
    expect(rig.hasFired('Serving')).toBe(false)
    const other = await listening(quick)
    await started
    expect(rig.life.addresses.map((address) => address.port)).toEqual([port, other])
    expect((await fresh(other, '/')).body).toBe('quick')

    const client = await RawClient.open({ port })
    client.request('GET', '/')
    await expect.poll(() => rig.life.counts().requests).toBe(1)
    const ended = rig.life.stop('the test asks')
    await rig.fired('HTTPServerStoppedListening')
    expect(await Promise.all([reached(port), reached(other)])).toEqual(['ECONNREFUSED', 'ECONNREFUSED'])
    expect(rig.hasFired('RequestsDrained')).toBe(false)
    answer()
    expect(await client.response()).toMatchObject({ body: 'whole' })
    expect(await rig.end(ended)).toMatchObject({ exitCode: 0, requests: { before: 1, after: 0 } })
  })

  test('end together when their owner closes one', async () => {
    const servers = [createServer((_, response) => void response.end()), createServer((_, response) => void response.end())] as const
    const ports = await Promise.all(servers.map(listening))
    const rig = newAttachedLife(servers)
    await rig.life.start()
    servers[1].close()
    const report = await rig.end(rig.life.ended)
    expect(report.reason).toEqual({ kind: 'server-closed' })
    expect(await Promise.all(ports.map((port) => reached(port)))).toEqual(['ECONNREFUSED', 'ECONNREFUSED'])
  })

  test('are all given back', async () => {
    const servers = [
      createServer((_, response) => void response.end('own')),
      createServer((_, response) => void response.end('own')),
    ] as const
    const ports = await Promise.all(servers.map(listening))
    const rig = newAttachedLife(servers)
    await rig.life.start()
    rig.life.dispose()
    await rig.life.stop('after it was given back')
    expect(await Promise.all(ports.map(async (port) => (await fresh(port, '/')).body))).toEqual(['own', 'own'])
  })

  test('get no lifecycle when one of them has one', () => {
    const [free, attached] = [createServer(), createServer()]
    newAttachedLife(attached)
    expect(refusal(() => newAttachedLife([free, attached])).code).toBe('ERR_ALREADY_ATTACHED')
    newAttachedLife(free)
  })

  test.each([
    ['none', [], /^server: got .*, allowed: a server, or a list of one or more/],
    ['what is no server', [createServer(), {} as ReturnType<typeof createServer>], /^server\[1\]: got /],
  ])('cannot be %s', (_, servers, message) => {
    expect(() => newAttachedLife(servers)).toThrow(message)
  })
})
