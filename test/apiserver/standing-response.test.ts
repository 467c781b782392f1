// Fails when: a response with standing headers sends others, or says others of itself, than one of
// node's own on which they were set before the handler; or an API server does without them.
import { once } from 'node:events'
import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StandingResponse } from '#src/apiserver/chain/standing-response.ts'
import { serveApi } from '../support/api-server.ts'

const STANDING = { 'Audit-ID': 'an-id', 'Cache-Control': 'no-cache, private' }

type Said = Record<string, unknown>
const said = (response: ServerResponse): Said => ({
  all: { ...response.getHeaders() },
  names: response.getHeaderNames().sort(),
  raw: (response as unknown as { getRawHeaderNames(): string[] }).getRawHeaderNames().sort(),
  id: response.getHeader('audit-id'),
  hasType: response.hasHeader('Content-Type'),
  length: response.getHeader('Content-Length'),
})

/** What a handler does, and says of the headers meanwhile. */
const HANDLERS: Record<string, (response: ServerResponse, note: (said: Said) => void) => void> = {
  'writes its head with an object': (response) => void response.writeHead(200, { 'Content-Type': 'text/plain' }).end('a'),
  'writes it with another value of one': (response) => void response.writeHead(200, { 'cache-control': 'public' }).end('a'),
  'writes it with several values': (response) => void response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'], Date: 'today' }).end(),
  'writes it with a reason': (response) => void response.writeHead(404, 'Nowhere', { 'Content-Length': 1 }).end('a'),
  'writes it with a reason only': (response) => void response.writeHead(404, 'Nowhere').end('a'),
  'writes it without headers': (response) => void response.writeHead(201).end('a'),
  'writes it with a list': (response) => void response.writeHead(200, ['Content-Type', 'text/plain', 'Cache-Control', 'public']).end('a'),
  'writes it with neither': (response) => void response.writeHead(200, undefined, undefined).end('a'),
  'only ends it': (response) => void response.end('some text'),
  'streams it': (response) => {
    response.flushHeaders()
    response.write('a')
    response.end('b')
  },
  'sets one before': (response) => void response.setHeader('Content-Type', 'text/html').writeHead(200, { 'X-A': '1' }).end('a'),
  'sets another value': (response) => void response.setHeader('audit-id', 'another').end('a'),
  'adds a value': (response) => void response.appendHeader('Cache-Control', 'no-store').end('a'),
  'removes one': (response) => {
    response.removeHeader('AUDIT-ID')
    response.writeHead(200, { 'X-A': '1' }).end('a')
  },
  'sets many': (response) => void response.setHeaders(new Map([['X-A', '1']])).end('a'),
  'looks before': (response, note) => {
    note(said(response))
    response.writeHead(200, { 'Content-Type': 'text/plain' }).end('a')
  },
  'looks before it sets another value': (response, note) => {
    note(said(response))
    note({ id: response.getHeader('audit-id') })
    response.setHeader('Cache-Control', 'public')
    note(said(response))
    response.writeHead(200, { 'Content-Type': 'text/plain' }).end('a')
  },
  'looks when the head is out, set one by one': (response, note) => {
    response.setHeader('Content-Length', 1)
    response.writeHead(200)
    note(said(response))
    response.end('a')
  },
  'is refused its head and writes another': (response, note) => {
    try {
      response.writeHead(200, { 'X-A': 'a\nb' })
    } catch (error) {
      note({ code: (error as NodeJS.ErrnoException).code })
    }
    response.writeHead(500, { 'X-B': 'b' }).end('a')
  },
  'is refused a status': (response, note) => {
    try {
      response.writeHead(99)
    } catch (error) {
      note({ code: (error as NodeJS.ErrnoException).code })
    }
    response.end('a')
  },
  'writes it twice': (response, note) => {
    response.writeHead(200, { 'X-A': '1' })
    try {
      response.writeHead(201)
    } catch (error) {
      note({ code: (error as NodeJS.ErrnoException).code })
    }
    response.end('a')
  },
  'answers without a body': (response) => void response.writeHead(204, { 'X-A': '1' }).end(),
}

async function served(handle: (typeof HANDLERS)[string], isOurs: boolean) {
  const notes: Said[] = []
  const server = createServer(isOurs ? { ServerResponse: StandingResponse } : {}, (_, response: ServerResponse) => {
    for (const [name, value] of Object.entries(STANDING)) {
      if (response instanceof StandingResponse) response.stand(name, value)
      else response.setHeader(name, value)
    }
    handle(response, (note) => void notes.push(note))
  })
  onTestFinished(() => void server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const asked = request({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false }).end()
  const [{ statusCode, statusMessage, headers, rawHeaders }] = (await once(asked, 'response')) as [import('node:http').IncomingMessage]
  const { date, ...others } = headers
  return { statusCode, statusMessage, others, hasDate: date !== undefined, count: rawHeaders.length, notes }
}

describe('a handler that', () => {
  test.each(Object.entries(HANDLERS))('%s', async (_, handle) => {
    expect(await served(handle, true)).toEqual(await served(handle, false))
  })

  test('looks when its head is out finds all that was sent', async () => {
    const { notes } = await served((response, note) => {
      response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 1 })
      note(said(response))
      response.end('a')
    }, true)
    expect(notes).toEqual([
      {
        all: { 'audit-id': 'an-id', 'cache-control': 'no-cache, private', 'content-type': 'text/plain', 'content-length': 1 },
        names: ['audit-id', 'cache-control', 'content-length', 'content-type'],
        raw: ['Audit-ID', 'Cache-Control', 'Content-Length', 'Content-Type'],
        id: 'an-id',
        hasType: true,
        length: 1,
      },
    ])
  })
})

test('a handler of an API server gets one, so that its headers go node’s short way', async () => {
  const got: ServerResponse[] = []
  const { ask } = await serveApi({
    setUp: (server) =>
      server.handle('/own', (_, response) => {
        got.push(response)
        response.end()
      }),
  })
  expect((await ask('/own')).headers.get('audit-id')).not.toBeNull()
  expect(got).toEqual([expect.any(StandingResponse)])
})
