// When the end of a request is recorded. Fails when: a client has a whole answer whose event is not
// stored, over any protocol and however the request ends; an answer that waits for its event loses
// or doubles bytes, waits longer than its request may take, or is not over for its handler; or what
// comes after the end of the backend is an error of the report, or goes uncounted.
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AuditEvent } from '#apiserver/audit/event.ts'
import type { ApiServerConfig } from '#apiserver/index.ts'
import type { Life, SignalName } from '#src/index.ts'
import { Gate } from '../../conformance/stage.ts'
import { serveApi } from '../../support/api-server.ts'
import { Sink } from './sink.ts'

const WATCH = '/apis/a/v1/things?watch=1'
const PANIC = 'This request caused apiserver to panic. Look in the logs for details.\n'
const auditPolicy = { rules: [{ level: 'Metadata', omitStages: ['RequestReceived'] }] } as const

/** A backend that stores each end when the test lets it. */
class Slow extends Sink {
  readonly #waiting: ((isStored: boolean) => void)[] = []

  override processEvents(batch: readonly AuditEvent[]): boolean | Promise<boolean> {
    this.answer = () => new Promise((resolve) => this.#waiting.push(resolve))
    return super.processEvents(batch)
  }

  settle(isStored = true): void {
    for (const resolve of this.#waiting.splice(0)) resolve(isStored)
  }
}

async function serve(audit: Sink, config: ApiServerConfig = {}) {
  const responses: ServerResponse[] = []
  const answers: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => unknown>> = {
    '/text': (_request, response) => response.end('text'),
    '/twice': (_request, response) => {
      response.end('once')
      response.end('twice')
      response.write('more')
    },
    '/pieces': (_request, response) => {
      response.writeHead(201, { 'content-length': '6' })
      response.write('one')
      response.end('two')
    },
    '/fails': () => {
      throw new Error('on purpose')
    },
    '/rejects': () => Promise.reject(new Error('on purpose')),
    '/never': () => {},
  }
  const served = await serveApi({
    config: { audit, auditPolicy, ...config },
    setUp: (server) => {
      for (const [path, answer] of Object.entries(answers))
        server.handle(path, (request, response) => {
          responses.push(response)
          return answer(request, response)
        })
      server.handlePrefix('/apis/', (_request, response) => {
        responses.push(response)
        response.end('watched')
      })
    },
  })
  return { served, responses }
}

const stages = (sink: Sink): readonly string[] =>
  sink.calls.flat().map(({ stage, responseStatus }) => `${stage} ${responseStatus?.code ?? 0}`)

describe.each([false, true])('with HTTP/2: %s', (http2) => {
  const ask = async (served: Awaited<ReturnType<typeof serve>>['served'], path: string): Promise<string> => {
    if (!http2) {
      const answer = await served.ask(path)
      return `${answer.status} ${await answer.text()}`
    }
    const { status, body } = await (await served.connectH2()).get(path)
    return `${status} ${body}`
  }

  test.each([
    ['/text', '200 text', ['ResponseComplete 200']],
    ['/twice', '200 once', ['ResponseComplete 200']],
    ['/pieces', '201 onetwo', ['ResponseComplete 201']],
    ['/fails', `500 ${PANIC}`, ['Panic 500']],
    ['/rejects', `500 ${PANIC}`, ['Panic 500']],
    ['/no-such', /^404 /, ['ResponseComplete 404']],
    [WATCH, '200 watched', ['ResponseStarted 200', 'ResponseComplete 200']],
  ])('the answer of %s is whole when its event is stored, and not before', async (path, expected, recorded) => {
    const sink = new Slow()
    const { served, responses } = await serve(sink, { http2 })
    let answer: string | undefined
    const asked = ask(served, path).then((text) => (answer = text))
    await expect.poll(() => stages(sink)).toEqual(recorded)
    if (!path.startsWith('/no-such') && !recorded.includes('Panic 500'))
      expect(responses.map(({ writableEnded }) => writableEnded)).toEqual([true])
    // Another exchange, there and back: time enough for bytes that should not leave.
    await expect.poll(() => ask(served, '/never?timeout=1ms')).toMatch(/^504/)
    expect(answer).toBe(undefined)
    sink.settle()
    const text = await asked
    if (typeof expected === 'string') expect(text).toBe(expected)
    else expect(text).toMatch(expected)
    expect(stages(sink).filter((stage) => !stage.endsWith('504'))).toEqual(recorded)
  })

  test.each([
    ['/text', '200 text', 'ResponseComplete 200'],
    ['/fails', /^500/, 'Panic 500'],
    ['/never?timeout=400ms', /^504/, 'ResponseComplete 504'],
    ['/text?timeout=1ns', /^504/, 'ResponseComplete 504'],
    ['/no-such', /^404/, 'ResponseComplete 404'],
  ])('that of %s is stored in the very step in which it is sent', async (path, expected, recorded) => {
    const sink = new Sink()
    let storedWhenSent: readonly string[] | undefined
    const { served } = await serve(sink, { http2 })
    const asked = ask(served, path).then((text) => {
      storedWhenSent = stages(sink)
      return text
    })
    expect(await asked).toMatch(expected)
    expect(storedWhenSent).toEqual([recorded])
  })

  test.each([
    ['/text', '200 text'],
    ['/fails', `500 ${PANIC}`],
  ])('that of %s, which is not stored while its request may last, is sent then', async (path, expected) => {
    const { served } = await serve(new Slow(), { http2 })
    expect(await ask(served, `${path}?timeout=400ms`)).toBe(expected)
  })
})

test('a request whose time is over while its credentials are looked at is recorded once', async () => {
  const sink = new Sink()
  let passes: ((user: undefined) => void) | undefined
  const authenticate = () => (passes ? undefined : new Promise<undefined>((resolve) => (passes = resolve)))
  const { served } = await serve(sink, { authenticators: [{ authenticate }] })
  expect((await served.ask('/text?timeout=100ms')).status).toBe(504)
  expect(stages(sink)).toEqual(['ResponseComplete 504'])
  passes?.(undefined)
  await served.ask('/livez')
  expect(stages(sink).filter((stage) => stage.endsWith('504'))).toHaveLength(1)
})

test('the refusal of credentials waits for its event, too', async () => {
  const sink = new Slow()
  const { served } = await serve(sink, { anonymousAuth: false, authenticators: [{ authenticate: () => undefined }] })
  let isAnswered = false
  const asked = served.ask('/text').finally(() => {
    isAnswered = true
  })
  await expect.poll(() => stages(sink)).toEqual(['ResponseStarted 401'])
  expect(isAnswered).toBe(false)
  sink.settle(false)
  expect((await asked).status).toBe(401)
})

test.each<[string, (path: string) => ApiServerConfig, lost: number]>([
  ['a backend of the user', () => ({ audit: new Sink() }), 1],
  ['a log in batches', (path) => ({ auditLog: { path, mode: 'batch' } }), 1],
  ['a log', (path) => ({ auditLog: { path } }), 0],
])('a probe that comes when %s has ended is no error, and is not lost without a word', async (_, backendAt, lost) => {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-audit-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const probed = new Gate()
  let arrivals = 0
  const served = await serveApi({
    config: { auditPolicy, whileDraining: 'retry-after', deadline: '30s', ...backendAt(join(folder, 'audit.log')) },
    setUp: (server) => {
      const isDraining = (): boolean => served.life.signal('NotAcceptingNewRequest').aborted
      server.addLivezCheck('slow', () => (isDraining() ? probed.pass() : undefined))
      server.addReadyzCheck('counts', () => void arrivals++)
    },
  })
  const drained = new Gate()
  const held = served.life.hold('work', () => drained.pass())
  const ended = served.life.stop()
  await signalled(served.life, 'NotAcceptingNewRequest')
  const probe = await served.connect()
  probe.request('GET', '/livez')
  await probed.reached
  drained.open()
  await held
  await signalled(served.life, 'AuditStopped')
  // The first one was recorded when the backend took its last events.
  probe.request('GET', '/readyz')
  await expect.poll(() => arrivals).toBe(1)
  probed.open()
  const report = await ended
  expect(report.errors).toEqual([])
  expect(report.audit).toEqual({ delivered: 2 - lost, lost })
  expect(report.warnings.map(({ message }) => message)).toEqual(
    lost === 0 ? [] : [expect.stringMatching(/^requests came after the audit backend was shut down/), 'audit events were lost'],
  )
})

const signalled = (life: Life, name: SignalName): Promise<unknown> => {
  const signal = life.signal(name)
  return signal.aborted ? Promise.resolve() : new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
