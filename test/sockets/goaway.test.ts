// Balance while serving, row by row of upstream's contract (GA). Fails when: the chance is not the
// chance; a client of HTTP/1.1 is told; a GOAWAY costs a request or a watch that is under way; or
// one comes so late that requests behind a watch stay on its connection.
import { createServer as createHttp1Server } from 'node:http'
import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { nodeServers } from '#src/actors/server-factories.ts'
import { type AttachableServer, attachLifecycleOn } from '#src/attach.ts'
import { systemClock } from '#src/base/clock.ts'
import { GOAWAY_CHANCE_MAX, goawayDecider } from '#src/http/traffic/balance.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { Gate } from '../conformance/stage.ts'
import { answerOf, H2Client, type StreamAnswer } from '../support/h2-client.ts'
import { connectTo } from '../support/raw-client.ts'
import { row } from '../support/row.ts'

row('GA-01', 'no chance: never', () => {
  expect(goawayDecider(0, () => 0)()).toBe(false)
})

row('GA-02', 'a chance of 1: always', () => {
  expect(goawayDecider(1, () => 0.9999999)()).toBe(true)
})

row('GA-03', 'a number just below the chance: yes', () => {
  expect(goawayDecider(0.01, () => 0.0099999)()).toBe(true)
})

row('GA-04', 'a number just above the chance: no', () => {
  expect(goawayDecider(0.01, () => 0.0100001)()).toBe(false)
})

/** A life whose chance is decided by the test. */
async function serve(server: AttachableServer, goawayChance = GOAWAY_CHANCE_MAX) {
  let shouldNotify = false
  const host = {
    clock: systemClock,
    random: () => (shouldNotify ? 0 : 0.5),
    process: new FakeProcess({ env: {} }).asHostProcess(),
    servers: nodeServers,
  }
  const life = attachLifecycleOn(host, server, { platform: 'unknown', shutdownDelay: 0, lastCall: 0, exit: 'natural', goawayChance })
  server.listen(0, '127.0.0.1')
  await life.start()
  onTestFinished(async () => void (await life.stop()))
  const { port } = server.address() as AddressInfo
  return { port, decide: (tells: boolean) => (shouldNotify = tells) }
}

/** Answers; a watch when it is let go. */
function application(watches: Gate) {
  return createServer(async (request: Http2ServerRequest, response: Http2ServerResponse) => {
    if (request.url === '/watch') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('begun ')
      await watches.pass()
      response.end('end')
    } else response.end(`${request.method} ok`)
  })
}

type Step = `${'get' | 'post' | 'watch'}${'' | '+goaway'}`

/** A client as others are: told to leave, it asks on a new connection. */
async function ask(
  steps: readonly Step[],
): Promise<{ readonly connections: number; readonly answers: StreamAnswer[]; readonly watches: StreamAnswer[] }> {
  const gate = new Gate()
  const { port, decide } = await serve(application(gate))
  const clients: H2Client[] = []
  const answers: StreamAnswer[] = []
  const watches: Promise<StreamAnswer>[] = []
  for (const step of steps) {
    let client = clients.at(-1)
    if (!client || client.goaways.length > 0) {
      client = await H2Client.open(`http://127.0.0.1:${port}`)
      clients.push(client)
    }
    decide(step.endsWith('+goaway'))
    if (step.startsWith('watch')) {
      const begun = client.stream({ ':path': '/watch' }, true)
      watches.push(answerOf(begun))
      await new Promise((resolve) => begun.once('response', resolve))
    } else answers.push(await (step.startsWith('post') ? client.post('/', 'body') : client.get('/')))
    // Its GOAWAY is right behind the head of the answer.
    if (step.endsWith('+goaway')) await expect.poll(() => client.goaways.length).toBeGreaterThan(0)
  }
  gate.open()
  return { connections: clients.length, answers, watches: await Promise.all(watches) }
}

const ROWS: readonly (readonly [row: string, steps: readonly Step[], connections: number])[] = [
  ['GA-05', ['get', 'post', 'get'], 1],
  ['GA-06', ['post', 'watch', 'get+goaway', 'get', 'post'], 2],
  ['GA-07', ['get', 'watch', 'get+goaway', 'watch', 'get', 'post'], 2],
  ['GA-08', ['post', 'watch', 'get+goaway', 'get+goaway', 'get', 'post'], 3],
  ['GA-09', ['get', 'watch+goaway', 'get', 'watch', 'get+goaway', 'get', 'post'], 3],
]

for (const [id, steps, connections] of ROWS) {
  row(id, `${steps.join(', ')}: ${connections} connections, and every answer is whole`, async () => {
    const asked = await ask(steps)
    expect(asked.connections).toBe(connections)
    for (const answer of asked.answers) expect(answer).toMatchObject({ status: 200, body: expect.stringContaining('ok'), code: 0 })
    for (const watch of asked.watches) expect(watch).toMatchObject({ status: 200, body: 'begun end', code: 0 })
  })
}

row('GA-10', 'a client of HTTP/1.1 is told nothing', async () => {
  const { port, decide } = await serve(createHttp1Server((_, response) => void response.end('ok')))
  decide(true)
  const client = await connectTo(port)
  for (let count = 0; count < 3; count++) {
    client.request('GET', '/')
    expect((await client.response()).headers['connection']).not.toBe('close')
  }
})

row('GA-11', '300 requests of ten workers, of which many tell: none fails by it', async () => {
  const gate = new Gate()
  gate.open()
  const { port, decide } = await serve(application(gate))
  let count = 0
  const worker = async (): Promise<number> => {
    let whole = 0
    let client: H2Client | undefined
    for (let index = 0; index < 30; index++) {
      if (!client || client.goaways.length > 0) client = await H2Client.open(`http://127.0.0.1:${port}`)
      decide(count++ % 7 === 0)
      const { status, code } = await (index % 3 === 0 ? client.get('/watch') : client.get('/'))
      if (status === 200 && code === 0) whole++
    }
    return whole
  }
  const whole = await Promise.all(Array.from({ length: 10 }, worker))
  expect(whole.reduce((sum, one) => sum + one)).toBe(300)
})

describe('without a chance', () => {
  test('no request is asked about', async () => {
    const { port, decide } = await serve(application(new Gate()), 0)
    decide(true)
    const client = await H2Client.open(`http://127.0.0.1:${port}`)
    await client.get('/')
    await client.get('/')
    expect(client.goaways).toEqual([])
  })
})
