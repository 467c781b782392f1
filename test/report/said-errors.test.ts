// What is said of errors where no logger has them. Fails when: a place that fails is not said, or
// again with every request; when one error hides another one; when a program that fails everywhere
// fills memory or standard error; or when anything is said beside a logger, or against its user.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemHost } from '#src/actors/host.ts'
import { attachLifecycleOn } from '#src/attach.ts'
import { errorRecord } from '#src/base/events.ts'
import { createLifeOn } from '#src/create-life.ts'
import type { Logger } from '#src/log/logger.ts'
import { SaidErrors } from '#src/log/said-errors.ts'
import type { LifecycleOptions } from '#src/options/options.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'

function saying() {
  const said: string[] = []
  const errors = new SaidErrors({ write: (text) => said.push(text) }, () => false)
  return { said, errors }
}

/** An error of a place of its own. */
const from = (place: string, message = 'boom') => ({
  name: 'Error',
  message,
  stack: `Error: ${message}\n    at ${place} (file:///app.js:1:1)`,
})

describe('an error', () => {
  test('is said with its stack, and the first one says what follows', () => {
    const { said, errors } = saying()
    errors.say('handler GET /', from('one'))
    errors.say('handler GET /', from('two'))
    expect(said).toEqual([
      expect.stringMatching(/^quiesce: handler GET \/: Error: boom\n {4}at one .*\n.* the option logger .*\n$/),
      'quiesce: handler GET /: Error: boom\n    at two (file:///app.js:1:1)\n',
    ])
  })

  test('is said once for its place, whatever its message and its request', () => {
    const { said, errors } = saying()
    for (let id = 0; id < 10_000; id++) errors.say(`handler GET /users/${id}`, from('one', `no user ${id}`))
    expect(said).toHaveLength(1)
  })

  test('without a stack is said once for what has failed', () => {
    const { said, errors } = saying()
    for (const where of ['every "a"', 'every "b"', 'every "a"']) errors.say(where, errorRecord('just text'))
    expect(said).toEqual([expect.stringMatching(/^quiesce: every "a": Error: just text\n/), 'quiesce: every "b": Error: just text\n'])
  })

  test('of ever new places is not said for ever, and that is said', () => {
    const { said, errors } = saying()
    for (let place = 0; place < 10_000; place++) errors.say('handler GET /', from(`place${place}`, 'x'.repeat(100_000)))
    expect(said).toHaveLength(100)
    expect(said.at(-1)).toMatch(/100 places.*the option logger/)
    expect(Math.max(...said.map(({ length }) => length))).toBeLessThan(10_000)
  })
})

/**
 * A server whose listeners fail, each in its own way, and what has been said when all of them have.
 */
async function failing(options: LifecycleOptions = {}) {
  const process = new FakeProcess()
  const fail = (where: string): never => {
    throw new Error(`from ${where}`)
  }
  const server = createServer((request: IncomingMessage, response: ServerResponse): unknown => {
    if (request.url === '/throws') return fail('request')
    if (request.url === '/rejects') return Promise.reject(new Error('from a promise'))
    response.write('begun')
    return Promise.resolve().then(() => fail('a response that has begun'))
  })
  server.on('upgrade', () => fail('upgrade'))
  server.on('connect', async () => fail('connect'))
  server.on('checkContinue', () => fail('checkContinue'))
  server.on('checkExpectation', () => fail('checkExpectation'))
  const life = attachLifecycleOn({ ...systemHost, process: process.asHostProcess() }, server, { platform: 'unknown', ...options })
  let failures = 0
  life.events$.subscribe(({ type }) => void (type === 'error' && failures++))
  server.listen(0, '127.0.0.1')
  await life.start()
  onTestFinished(async () => void (await life.stop({ now: true })))
  const { port } = server.address() as AddressInfo
  for (const [line, header = ''] of [
    ['GET /throws'],
    ['GET /throws'],
    ['GET /rejects'],
    ['GET /begun'],
    ['GET /up', 'Connection: Upgrade\r\nUpgrade: other\r\n'],
    ['CONNECT example.org:443'],
    ['POST /', 'Connection: close\r\nContent-Length: 1\r\nExpect: 100-continue\r\n'],
    ['POST /', 'Connection: close\r\nContent-Length: 1\r\nExpect: a lot\r\n'],
  ]) {
    const socket: Socket = connect(port, '127.0.0.1')
    socket.on('error', () => {}).resume()
    socket.write(`${line} HTTP/1.1\r\nHost: a\r\n${header}\r\n`)
    if (!header) socket.end()
    await once(socket, 'close')
  }
  return { process, failures }
}

describe('a life', () => {
  test('without a logger says every kind of handler that fails, while it serves', async () => {
    const { process, failures } = await failing()
    const first = process.stderrText.split('\n').filter((line) => line.startsWith('quiesce: '))
    expect(first.map((line) => line.replace(/^quiesce: handler |: Error/g, ''))).toEqual([
      'GET /throws: from request',
      'GET /rejects: from a promise',
      'GET /begun: from a response that has begun',
      expect.stringContaining('from upgrade'),
      expect.stringContaining('from connect'),
      'POST /: from checkContinue',
      'POST /: from checkExpectation',
    ])
    expect(process.stderrText).toContain('said-errors.test.ts')
    // All of them are events, also the one that is not repeated.
    expect(failures).toBe(8)
  })

  const LOGGER: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  test.each([
    ['with a logger', { logger: LOGGER }],
    ['with one that leaves errors out', { logger: { ...LOGGER, isLevelEnabled: () => false } }],
    ['that is to be silent', { logger: false as const }],
  ])('%s says nothing', async (_, options) => {
    const { process, failures } = await failing(options)
    expect(failures).toBe(8)
    expect(process.stderrText).toBe('')
  })

  test('without a server says what fails in it, too', async () => {
    const process = new FakeProcess()
    const life = createLifeOn({ ...systemHost, process: process.asHostProcess() }, { platform: 'unknown' })
    onTestFinished(async () => void (await life.stop({ now: true })))
    let runs = 0
    const thrice = new Promise<void>((resolve) => {
      life.every('tick', 1, () => {
        if (++runs === 3) resolve()
        throw new Error('no outbox')
      })
    })
    await life.start()
    await thrice
    expect(process.stderrText.match(/quiesce: every "tick": Error: no outbox/g)).toHaveLength(1)
  })
})
