// What is audited of an end. Fails when: a request or a watch that is under way at the end has no
// event of its answer, or the backend ends before that; or a refused request leaves an event or is
// counted among the requests that were broken off.
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { shutdownSignalOf } from '#src/index.ts'
import { Gate } from '../../conformance/stage.ts'
import { serveApi } from '../../support/api-server.ts'
import { row } from '../../support/row.ts'
import { POLL } from '../../support/upstream-client.ts'
import { Sink } from './sink.ts'

const WATCH = '/apis/a/v1/things?watch=1'

/** A server that drains, with a request and a watch under way. */
async function draining(whileDraining: 'refuse' | 'retry-after') {
  const sink = new Sink()
  const gates = { plain: new Gate(), watch: new Gate() }
  const served = await serveApi({
    config: { whileDraining, watchGrace: '1m', deadline: '10m', audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } },
    setUp: (server) => {
      server.handle('/plain', async (_request, response) => {
        await gates.plain.pass()
        response.end('done')
      })
      server.handlePrefix('/apis/', async (request, response) => {
        await gates.watch.pass()
        const told = shutdownSignalOf(request)
        while (!told.aborted) await turn()
        response.end('done')
      })
    },
  })
  const asked = { plain: served.ask('/plain'), watch: served.ask(WATCH) }
  await Promise.all([gates.plain.reached, gates.watch.reached])
  const ended = served.life.stop()
  const signal = whileDraining === 'refuse' ? 'HTTPServerStoppedListening' : 'NotAcceptingNewRequest'
  await expect.poll(() => served.life.signal(signal).aborted, POLL).toBe(true)
  return { served, sink, gates, asked, ended }
}

const stagesOf = (sink: Sink, id: string | null): readonly string[] =>
  sink.calls
    .flat()
    .filter(({ auditID }) => auditID === id)
    .map(({ stage, responseStatus }) => `${stage} ${responseStatus?.code ?? 0}`)

describe.each(['refuse', 'retry-after'] as const)('at the end of a server in the mode %s', (mode) => {
  row([mode === 'refuse' ? 'GT-12' : 'RA-04'], 'a request under way is answered and audited', async () => {
    const { sink, gates, asked, ended } = await draining(mode)
    gates.plain.open()
    const answer = await asked.plain
    expect([answer.status, await answer.text()]).toEqual([200, 'done'])
    gates.watch.open()
    expect(await ended).toMatchObject({ exitCode: 0, audit: { delivered: sink.calls.flat().length, lost: 0 } })
    expect(stagesOf(sink, answer.headers.get('audit-id'))).toEqual(['RequestReceived 0', 'ResponseComplete 200'])
    expect(sink.log.at(-1)).toBe('shutdown')
  })

  row([mode === 'refuse' ? 'GT-13' : 'RA-05'], 'a watch is told, ends with its answer, and is audited', async () => {
    const { sink, gates, asked, ended } = await draining(mode)
    gates.plain.open()
    gates.watch.open()
    const answer = await asked.watch
    expect([answer.status, await answer.text()]).toEqual([200, 'done'])
    expect((await ended).exitCode).toBe(0)
    expect(stagesOf(sink, answer.headers.get('audit-id'))).toEqual(['RequestReceived 0', 'ResponseStarted 200', 'ResponseComplete 200'])
  })
})

row('RA-18', 'a refused request has an id and a line in the log, and is neither audited nor counted as broken off', async () => {
  const { served, sink, gates, ended } = await draining('retry-after')
  const before = sink.calls.length
  const answer = await served.ask('/plain')
  expect([answer.status, answer.headers.get('cache-control')]).toEqual([429, null])
  const id = answer.headers.get('audit-id')
  expect(id).toMatch(/^[0-9a-f-]{36}$/)
  gates.plain.open()
  gates.watch.open()
  await ended
  expect(stagesOf(sink, id)).toEqual([])
  expect(sink.calls.length).toBeGreaterThan(before)
  expect(served.counted).toEqual([])
  expect(served.lines.filter(({ fields }) => fields['audit-ID'] === id)).toEqual([
    expect.objectContaining({ message: 'HTTP', fields: expect.objectContaining({ resp: 429, URI: '/plain' }) }),
  ])
})
