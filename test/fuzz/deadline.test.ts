// Fails when: an API server with every filter on does not end by its deadline, whatever its clients
// do, or a request or its end is not in its audit log.
import { expect, onTestFinished, test } from 'vitest'
import { connectTo, type RawClient } from '../support/raw-client.ts'
import { ECHO, requestText, TOKEN } from './attacks.mjs'
import { frame, headersFrame, PREFACE } from './frames.mjs'
import { Target } from './target.mjs'

const DEADLINE_MS = 3000
const OUT_OF_TIME = 5
const PING = 6
const MARK = Buffer.from('12345678')
/** Of each kind of client. */
const EACH = 4

test('hostile connections keep no API server from its deadline, and all of it is audited', async () => {
  const timeouts = { requestTimeout: '60s', headersTimeout: '60s', keepAliveTimeout: '60s' }
  const target = await Target.start({ ...timeouts, deadline: `${DEADLINE_MS}ms` })
  onTestFinished(() => target.dispose())
  const { h1, h2 } = target.ports
  const send = async (port: number, ...bytes: readonly (string | Buffer)[]): Promise<RawClient> => {
    const client = await connectTo(port)
    for (const each of bytes) client.send(each)
    return client
  }
  const secret = 'of-no-interest'
  const pseudo = { ':method': 'GET', ':scheme': 'http', ':authority': 'localhost', ':path': '/api/v1/never' }
  for (let count = 0; count < EACH; count++) {
    await send(h1, requestText(secret).slice(0, -2))
    await send(h1, requestText(secret, { method: 'POST', headers: ['Content-Length: 100'], body: 'not all of it' }))
    await send(h1, requestText(secret, { target: '/api/v1/never' }))
    await send(h1, requestText(secret, { target: '/api/v1/never', headers: ['Connection: Upgrade', 'Upgrade: websocket'] }))
    const request = headersFrame({ ...pseudo, authorization: `Bearer ${TOKEN}` }, 1)
    const asking = await send(h2, PREFACE, frame(4), request, frame(PING, { payload: MARK }))
    await asking.until('an answer to what was sent behind the request', () => asking.bytes.includes(MARK))
    const { socket } = await send(h1, requestText(secret, { target: '/api/v1/large' }))
    socket.pause()
  }
  // Behind all of them: what was sent before has come by now.
  const client = await send(h1)
  const answered: string[] = []
  for (let count = 0; count < EACH; count++) {
    client.send(requestText(secret))
    const answer = await client.response()
    expect([answer.status, answer.headers['connection']]).toEqual([200, 'keep-alive'])
    answered.push(answer.headers['audit-id'] as string)
  }

  const { audit, report, wrong } = await target.stop(OUT_OF_TIME)
  // By its own account, and with time for a busy machine: by itself it would take a minute.
  const [stoppedAt, endedAt] = [report?.stopRequestedAt, report?.endedAt].map((at) => Date.parse(String(at)))
  expect((endedAt as number) - (stoppedAt as number)).toBeLessThan(2 * DEADLINE_MS)
  const stages = (id: string): readonly string[] => audit.filter(({ auditID }) => auditID === id).map(({ stage }) => stage)
  expect(audit.filter(({ auditID, stage }) => stage === 'RequestReceived' && stages(auditID).length === 1)).toEqual([])
  expect(report?.audit).toEqual({ delivered: audit.length, lost: 0 })
  expect(report?.exitCode).toBe(OUT_OF_TIME)
  expect(wrong).toEqual([])
  for (const id of answered) {
    const of = audit.filter(({ auditID }) => auditID === id).map(({ stage, responseStatus }) => [stage, responseStatus?.code])
    expect(of).toEqual([
      ['RequestReceived', undefined],
      ['ResponseComplete', 200],
    ])
  }
  // Half a head is no request.
  const came = audit.filter(({ stage }) => stage === 'RequestReceived').map(({ requestURI }) => requestURI)
  const count = (uri: string): number => came.filter((one) => one === uri).length
  expect([ECHO, '/api/v1/never', '/api/v1/large'].map(count)).toEqual([2 * EACH, 3 * EACH, EACH])
})
