import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { PassThrough, pipeline } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { NEVER_SETTLES_AFTER_MS } from '#src/http/traffic/running-handlers.ts'
import { NAMED_MAX, NEVER_ENDS_AFTER_MS } from '#src/http/traffic/unended-responses.ts'
import { hasSettled, Latch, type Rig, rig } from './rig.ts'

/** Handlers whose response is gone before they are over. */

/** A request whose client leaves as soon as its handler has it. */
async function left({ connect, traffic }: Rig, path = '/order'): Promise<void> {
  const client = await connect()
  client.request('POST', path, { headers: { 'Content-Length': '0' } })
  await expect.poll(() => traffic.counts().requests + traffic.counts().watches).toBe(1)
  client.abort()
  await expect.poll(() => traffic.counts().requests + traffic.counts().watches).toBe(0)
}

test('a handler that reads on behind its own answer hears that its connection is gone', async () => {
  let isAnswered = false
  const made = await rig(async (request, response) => {
    response.writeHead(408, { Connection: 'close' }).end()
    isAnswered = true
    for await (const _ of request);
  })
  const client = await made.connect()
  client.request('POST', '/order', { headers: { 'Content-Length': '100' } })
  client.send('the rest never comes')
  await expect.poll(() => isAnswered).toBe(true)
  client.abort()
  await made.traffic.handlersDone()
  expect(made.facts).toMatchObject([{ type: 'error', where: 'handler POST /order', error: { message: 'aborted' } }])
})

test('a handler whose response waits behind another hears that its connection is gone', async () => {
  const paths: string[] = []
  const made = await rig(async ({ url = '' }, response) => {
    paths.push(url)
    await once(response, 'close')
    expect(response.destroyed).toBe(true)
  })
  const client = await made.connect()
  for (const path of ['/first', '/second', '/third']) client.request('GET', path)
  await expect.poll(() => paths).toEqual(['/first', '/second', '/third'])
  client.abort()
  await made.traffic.handlersDone()
  expect(made.facts).toEqual([])
})

test('a handler that is called when its client has left is waited for, and named', async () => {
  const latch = new Latch()
  const made = await rig(async (_, response) => {
    response.end('too late')
    await latch.promise
  })
  const asked = once(
    made.server.on('checkContinue', () => {}),
    'checkContinue',
  ) as Promise<[IncomingMessage, ServerResponse]>
  const client = await made.connect()
  client.request('POST', '/order', { headers: { Expect: '100-continue', 'Content-Length': '3' } })
  const [request, response] = await asked
  client.abort()
  await expect.poll(() => made.traffic.counts().requests).toBe(0)
  made.server.emit('request', request, response)
  const done = made.traffic.handlersDone()
  expect(await hasSettled(done)).toBe(false)
  expect(made.traffic.snapshot.blocking(9)).toMatchObject({ handlers: 1, blocking: { handlers: [{ name: 'POST /order' }] } })
  latch.resolve()
  await done
  expect(made.traffic.snapshot.blocking(9).handlers).toBe(0)
})

test('a request that was answered early, and that is not read on, breaks off without a word', async () => {
  const made = await rig((_request, response) => void response.writeHead(408, { Connection: 'close' }).end())
  const client = await made.connect()
  client.request('POST', '/order', { headers: { 'Content-Length': '100' } })
  expect((await client.response()).status).toBe(408)
  client.abort()
  await made.traffic.connectionsClosed()
  await made.settle()
  expect(made.facts).toEqual([])
})

describe('a handler that returns no promise, and whose client has left,', () => {
  test.each<[string, (response: ServerResponse) => void]>([
    ['at once', (response) => void response.end('ok')],
    ['with a head of its own', (response) => void response.writeHead(201, { 'Content-Length': '2' }).end('ok')],
    [
      'in pieces',
      (response) => {
        response.write('o')
        response.end('k')
      },
    ],
  ])('is waited for until it ends its response: %s', async (_, answer) => {
    let response: ServerResponse | undefined
    const made = await rig((_request, given) => {
      response = given
    })
    await left(made)
    const done = made.traffic.handlersDone()
    expect(made.traffic.snapshot.blocking(9)).toMatchObject({ handlers: 1, blocking: { handlers: [{ name: 'POST /order' }] } })
    expect(await hasSettled(done)).toBe(false)
    answer(response as ServerResponse)
    await done
    expect(made.traffic.snapshot.blocking(9).handlers).toBe(0)
    expect(made.traffic.cutHandlers()).toEqual({ pending: [], unended: [] })
    expect(made.facts).toEqual([])
  })

  // As express-session does it when an upload is broken off: it writes the answer of the error at
  // once, and its last byte when the session is saved.
  test('is waited for until it ends its response, a part of which it wrote as its client left', async () => {
    let response: ServerResponse | undefined
    const made = await rig((request, given) => {
      request.resume().once('error', () => {})
      request.once('aborted', () => {
        given.setHeader('Content-Length', 2).write(Buffer.from('o'))
        response = given
      })
    })
    const client = await made.connect()
    client.request('POST', '/order', { headers: { 'Content-Length': '100' } })
    await expect.poll(() => made.traffic.counts().requests).toBe(1)
    client.abort()
    await expect.poll(() => response?.closed).toBe(true)
    const done = made.traffic.handlersDone()
    expect(await hasSettled(done)).toBe(false)
    response?.end('k')
    expect(made.traffic.snapshot.blocking(9).handlers).toBe(0)
    await done
    expect(made.traffic.cutHandlers()).toEqual({ pending: [], unended: [] })
  })

  test('is over only when it has really ended, whatever stands in front of end()', async () => {
    const saved = new Latch()
    let response: ServerResponse | undefined
    const made = await rig((_request, given) => {
      // What a session store does: it keeps the response's own `end` and calls it when all is
      // saved.
      const end = given.end
      given.end = (() => {
        void saved.promise.then(() => end.call(given, undefined, 'utf8'))
        return given
      }) as ServerResponse['end']
      response = given
    })
    await left(made)
    response?.end()
    const done = made.traffic.handlersDone()
    expect(await hasSettled(done)).toBe(false)
    saved.resolve()
    await done
  })

  test('is not waited for when nothing will end its response', async () => {
    const listeners: Record<string, RequestListener> = {
      '/watch': () => undefined,
      '/events': (_request, response) => void response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': begun'),
      '/piped': (_request, response) => void new PassThrough().pipe(response),
      '/pipeline': (_request, response) => void pipeline(new PassThrough(), response, () => undefined),
      '/promised': async (_request, response) => void (await once(response, 'close')),
      '/ended': (_request, response) => void response.end(Buffer.alloc(50_000_000)),
    }
    const made = await rig((request, response) => listeners[request.url ?? '']?.(request, response), { clock: new VirtualClock() })
    for (const path of Object.keys(listeners)) {
      await left(made, path)
      await expect.poll(() => hasSettled(made.traffic.handlersDone())).toBe(true)
    }
    expect(made.facts).toEqual([])
  })

  test('and that has destroyed its response itself is over', async () => {
    const made = await rig((request, response) => void (request.url === '/socket' ? request.socket : response).destroy())
    for (const path of ['/response', '/socket']) {
      const client = await made.connect()
      client.request('GET', path)
      await client.closed()
      await made.traffic.handlersDone()
    }
  })

  test('and throws is over', async () => {
    const made = await rig((_request, response) => {
      response.write('part')
      throw new Error('broken')
    })
    const client = await made.connect()
    client.request('GET', '/')
    await client.closed()
    await made.traffic.handlersDone()
    expect(made.facts).toMatchObject([{ type: 'error' }])
  })

  test('is given up when it has ended nothing for too long, and that is a warning', async () => {
    const clock = new VirtualClock()
    const made = await rig(() => undefined, { clock })
    await left(made, '/old')
    await clock.advance(NEVER_ENDS_AFTER_MS)
    await left(made, '/poll')
    await clock.advance(NEVER_ENDS_AFTER_MS / 2)
    await left(made, '/young')
    const done = made.traffic.handlersDone()
    await clock.advance(NEVER_ENDS_AFTER_MS - 1)
    expect(await hasSettled(done)).toBe(false)
    await clock.advance(1)
    await done
    // The first was given up before it was waited for: most that end nothing are.
    expect(made.facts).toEqual([
      {
        type: 'warning',
        message: 'handlers did not end their responses in time after their clients had left',
        details: { handlers: 2, oldest: ['POST /poll', 'POST /young'] },
      },
    ])
    expect(clock.pending).toBe(0)
  })

  test('is named, and warned of, when the wait is cut', async () => {
    const clock = new VirtualClock()
    const made = await rig(() => undefined, { clock })
    await left(made)
    void made.traffic.handlersDone()
    expect(made.traffic.cutHandlers()).toMatchObject({ pending: [], unended: [{ name: 'POST /order' }] })
    expect(made.facts).toMatchObject([{ type: 'warning', details: { handlers: 1 } }])
    expect(clock.pending).toBe(0)
  })
})

describe('a handler that never settles', () => {
  async function neverSettling(count: number) {
    const clock = new VirtualClock()
    const ends: Latch[] = []
    const made = await rig(
      () => {
        const end = new Latch()
        ends.push(end)
        return end.promise
      },
      { clock },
    )
    const client = await made.connect()
    client.send('GET /stuck?secret=1 HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(count))
    await expect.poll(() => made.traffic.counts().requests).toBe(count)
    client.abort()
    await expect.poll(() => made.traffic.counts().requests).toBe(0)
    return { ...made, clock, ends }
  }

  test('is waited for, and named, for a long time', async () => {
    const made = await neverSettling(2)
    await made.clock.advance(NEVER_SETTLES_AFTER_MS - 1)
    const done = made.traffic.handlersDone()
    expect(await hasSettled(done)).toBe(false)
    expect(made.traffic.runningHandlers()).toMatchObject([{ name: 'GET /stuck' }, { name: 'GET /stuck' }])
    for (const end of made.ends) end.resolve()
    await done
    expect(made.traffic.runningHandlers()).toEqual([])
  })

  test('is given up after that, and said so', async () => {
    const made = await neverSettling(2)
    await made.clock.advance(NEVER_SETTLES_AFTER_MS)
    await made.traffic.handlersDone()
    expect(made.traffic.cutHandlers()).toEqual({ pending: [], unended: [] })
    expect(made.facts).toEqual([
      {
        type: 'warning',
        message: 'handlers are still running although their responses are over',
        details: { handlers: 2, oldest: 'GET /stuck', ageMs: NEVER_SETTLES_AFTER_MS },
      },
      { type: 'warning', message: 'handlers that never settle were not waited for', details: { handlers: 2 } },
    ])
    // Settling now is no news.
    for (const end of made.ends) end.resolve()
    expect(await hasSettled(made.traffic.handlersDone())).toBe(true)
  })

  test('is only counted when there are many, and said so once', async () => {
    const made = await neverSettling(NAMED_MAX + 5)
    await made.clock.advance(5_000)
    void made.traffic.handlersDone()
    const running = made.traffic.runningHandlers()
    expect(running).toHaveLength(NAMED_MAX + 1)
    expect(running.at(-1)).toEqual({ name: '5 more', ageMs: 5_000 })
    expect(made.facts).toMatchObject([{ type: 'warning', details: { handlers: NAMED_MAX, oldest: 'GET /stuck', ageMs: 5_000 } }])
    expect(made.traffic.snapshot.blocking(3)).toMatchObject({ handlers: NAMED_MAX + 5, blocking: { handlers: [{}, {}, {}] } })
  })

  test('and whose client left late is booked like any other', async () => {
    const clock = new VirtualClock()
    const made = await rig(() => new Promise(() => undefined), { clock })
    for (const _ of [1, 2]) {
      const client = await made.connect()
      client.request('GET', '/')
      await expect.poll(() => made.traffic.counts().requests).toBe(1)
      await clock.advance(5_000)
      client.abort()
      await expect.poll(() => made.traffic.counts().requests).toBe(0)
    }
    await expect.poll(() => made.traffic.counts().connections.open).toBe(0)
    expect(made.traffic.runningHandlers()).toHaveLength(2)
  })

  test('and is late when it does after its cut', async () => {
    const made = await neverSettling(1)
    await made.clock.advance(5_000)
    const done = made.traffic.handlersDone()
    expect(made.traffic.cutHandlers()).toMatchObject({ pending: [{ name: 'GET /stuck' }] })
    made.ends[0]?.reject(new Error('broken'))
    await done
    expect(made.facts).toMatchObject([{ type: 'late', what: 'handler GET /stuck', answer: 'rejected' }])
  })

  test('may write a head that is never read', async () => {
    let response: ServerResponse | undefined
    const clock = new VirtualClock()
    const end = new Latch()
    const made = await rig(
      (_request, given) => {
        response = given
        return end.promise
      },
      { clock },
    )
    made.traffic.beginNotifying({ how: 'at-once', delayMs: 0 })
    await left(made)
    await clock.advance(5_000)
    const done = made.traffic.handlersDone()
    response?.writeHead(200).end('too late')
    end.resolve()
    await done
    expect(made.facts).toEqual([])
  })
})
