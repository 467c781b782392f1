import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { JournalEntry } from '#src/inspector/protocol.ts'
import { Recording } from '#src/inspector/recording.ts'
import type { InspectorOptions } from '#src/options/options.ts'
import { Latch } from '../sockets/rig.ts'
import { newLife } from '../support/life.ts'
import { temporaryFolder } from '../support/process.ts'
import { ask, isSignal, StreamReader } from './client.ts'

const TOKEN = 'a-token/that+is~long.enough=='

/** A life that serves, with an inspector. */
async function inspected(inspector: boolean | InspectorOptions = true, journal?: string) {
  const made = newLife({ options: { inspector, ...(journal !== undefined && { journal }) } })
  await made.life.start()
  const url = made.log.find(({ message }) => message.startsWith('Inspector on '))?.fields['url'] as string
  return { ...made, made, url }
}

/** Who is in which state, as a page knows it. */
function statesOf(entries: readonly JournalEntry[]): Record<string, unknown> {
  const names = new Map<string, string>()
  const states: Record<string, unknown> = {}
  for (const entry of entries) {
    if (entry.kind === 'actor') names.set(entry.actor, entry.name)
    if (entry.kind === 'state') states[names.get(entry.actor) as string] = entry.value
  }
  return states
}

describe('the stream', () => {
  test('begins with what has happened and how things are, and ends with the report', async () => {
    const { made, url } = await inspected()
    const reader = await StreamReader.open(url)
    await reader.until((entry) => entry.kind === 'gauges')
    expect(reader.session).toEqual({ mode: 'live', at: expect.any(Number), canStop: false, canDrill: false })
    expect(reader.entries[0]).toMatchObject({ n: 1, kind: 'opening', source: 'life', deadlineMs: 600_000 })
    expect(reader.signals).toContain('Serving')
    const [root] = reader.entries.filter((entry) => entry.kind === 'actor')
    expect(root).toMatchObject({ machine: 'lifecycle' })
    expect(reader.entries.some((entry) => entry.kind === 'sent')).toBe(false)
    expect(statesOf(reader.entries)).toMatchObject({ [(root as { name: string }).name]: { running: { serve: 'fired', stop: 'living' } } })

    const report = await made.end()
    // A listener that serves no request of the life's is not said to serve.
    expect(report.listeners).toEqual([
      { url: made.life.addresses[0]?.url, admin: false },
      { url: new URL(url).origin, admin: true, inspector: true },
    ])
    expect(made.log.filter(({ message }) => message.includes(new URL(url).host)).map(({ level, message }) => [level, message])).toEqual([
      ['info', `Inspector on ${url}`],
      ['debug', `Inspector listens on ${new URL(url).origin}`],
    ])
    await reader.closed
    expect(reader.hasEnded).toBe(true)
    expect(reader.signals.at(-1)).toBe('Ended')
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'report', report: JSON.parse(JSON.stringify(report)) as object })
    // The edges that were taken, and who told whom.
    const states = reader.entries.filter((entry) => entry.kind === 'state')
    expect(states.flatMap(({ taken }) => taken)).toContainEqual({
      on: 'ShutdownInitiated',
      from: 'lifecycle.running.notify-clients.waiting',
      to: 'lifecycle.running.notify-clients.working',
    })
    expect(states.some(({ on }) => on === 'stop.requested')).toBe(true)
    // Also those that were in the middle of their last step when the life was over.
    const last = (name: string) => {
      const actor = reader.entries.find((entry) => entry.kind === 'actor' && entry.name === name) as { actor: string }
      return states.findLast((entry) => entry.actor === actor.actor)
    }
    expect(last('report')).toMatchObject({ status: 'done', value: 'written' })
    expect(last((root as { name: string }).name)).toMatchObject({ status: 'done', value: 'ended' })
    const drain = reader.entries.find((entry) => entry.kind === 'actor' && entry.name === 'request-drain') as { actor: string }
    expect(reader.entries).toContainEqual(
      expect.objectContaining({
        kind: 'sent',
        from: drain.actor,
        event: expect.objectContaining({ type: 'xstate.done.actor.request-drain' }),
      }),
    )
    expect(reader.entries).toContainEqual(expect.objectContaining({ kind: 'actor.stopped', actor: drain.actor }))
  })

  test('numbers its entries without gaps, and two readers read the same', async () => {
    const { made, url } = await inspected()
    const [one, other] = [await StreamReader.open(url), await StreamReader.open(url)]
    await made.end()
    await Promise.all([one.closed, other.closed])
    expect(one.entries.map(({ n }) => n)).toEqual(one.entries.map((_, index) => index + 1))
    expect(other.entries).toEqual(one.entries)
  })

  test('goes on where it was cut off, by header and by query', async () => {
    const { made, url } = await inspected()
    const whole = await StreamReader.open(url)
    const first = await StreamReader.open(url)
    await first.until((entry) => entry.kind === 'gauges')
    first.leave()
    await first.closed
    const last = first.entries.at(-1)?.n as number
    const resumed = await StreamReader.open(url, { 'Last-Event-ID': String(last) })
    await made.end()
    await Promise.all([whole.closed, resumed.closed])
    expect([...first.entries, ...resumed.entries]).toEqual(whole.entries)
  })

  test('begins anew for whoever asks for what is not there', async () => {
    const { url } = await inspected()
    await StreamReader.open(url)
    for (const id of ['999999', '-1', 'x', '1']) {
      const reader = await StreamReader.open(url, { 'Last-Event-ID': id })
      await reader.until((entry) => entry.kind === 'gauges')
      expect(reader.entries[0]).toMatchObject({ n: 1 })
    }
  })

  test('says what is registered, what a stop would have, and which check is not ready', async () => {
    let isUp = false
    let asked = 0
    const made = newLife({ options: { inspector: true, deadline: '20s', shutdownDelay: '2s' } })
    made.life.addReadyzCheck('db', () => {
      asked++
      if (!isUp) throw new Error('no connection')
    })
    made.life.addPreShutdownHook('leave', () => {}, { timeout: '1s' })
    await made.life.start()
    const reader = await StreamReader.open(made.log.find(({ message }) => message.startsWith('Inspector on '))?.fields['url'] as string)
    const checkIs = (passed: boolean | undefined, reason?: string) => (entry: JournalEntry) =>
      entry.kind === 'setup' &&
      entry.readiness?.path === '/readyz' &&
      entry.readiness.checks.some((check) => check.name === 'db' && check.passed === passed && check.reason === reason)
    // To show it, nothing is asked.
    await reader.until(checkIs(undefined))
    expect(asked).toBe(0)
    await made.get('/readyz')
    await reader.until(checkIs(false, 'no connection'))
    isUp = true
    await made.get('/readyz')
    await reader.until(checkIs(true))
    const late = made.life.addPreShutdownHook('flush', () => {}, { timeout: '2s' })
    const hooksAre =
      (...hooks: object[]) =>
      (entry: JournalEntry) =>
        entry.kind === 'setup' && JSON.stringify(entry.hooks) === JSON.stringify(hooks)
    const leave = { kind: 'pre-shutdown', name: 'leave', limitMs: 1_000 }
    await reader.until(hooksAre(leave, { kind: 'pre-shutdown', name: 'flush', limitMs: 2_000 }))
    late[Symbol.dispose]()
    await reader.until(hooksAre(leave))
    expect(reader.entries.findLast((entry) => entry.kind === 'setup')?.stop).toMatchObject({ delayMs: 2_000, deadlineMs: 20_000 })
  })

  test('shows what blocks the end, and is not what blocks it', async () => {
    const work = new Latch()
    const made = newLife({ listener: (_, response) => void work.promise.then(() => response.end('done')), options: { inspector: true } })
    await made.life.start()
    const reader = await StreamReader.open(made.log.find(({ message }) => message.startsWith('Inspector on '))?.fields['url'] as string)
    const answer = made.get('/slow?secret=1')
    await expect.poll(() => made.life.status.gauges().requests, { timeout: 20_000 }).toBe(1)
    const end = made.life.stop()
    await reader.until((entry) => entry.kind === 'gauges' && entry.blocking.requests.some(({ name }) => name === 'GET /slow'))
    work.resolve()
    await answer
    await made.end(end)
    await reader.closed
    expect(reader.entries.findLast((entry) => entry.kind === 'gauges')).toMatchObject({
      requests: 0,
      connections: { active: 0, idle: 0, notified: 0 },
    })
  })

  test('of a client that never reads does not hold up the end', async () => {
    const { made, url } = await inspected()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.pause()
    socket.write('GET /inspector/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const reader = await StreamReader.open(url)
    // More than any socket's buffers hold, and than is kept.
    for (let index = 0; index < 4_000; index++) {
      made.life.record({ type: 'error', where: 'GET /', error: { name: 'Error', message: 'x'.repeat(3_000) } })
    }
    await made.end()
    expect(made.life.status.report.exitCode).toBe(0)
    await reader.closed
    // Whoever is too slow is cut off and comes back; the signals are all still there.
    const last = reader.entries.at(-1)?.kind
    expect(reader.hasEnded ? last : 'cut off').toBe(reader.hasEnded ? 'report' : 'cut off')
    expect(made.sinceStop('Ended')).toBeLessThan(5_000)
  })

  test('is there for so many at a time', async () => {
    const { url } = await inspected()
    for (let index = 0; index < 16; index++) await StreamReader.open(url)
    await expect(StreamReader.open(url)).rejects.toThrow('got 503')
  })

  test('is refused behind another answer of its connection, whose end it would not be told of', async () => {
    const { made, url } = await inspected()
    const { port, hostname } = new URL(url)
    const client = connect(Number(port), hostname)
    onTestFinished(() => void client.destroy())
    client.write('GET /inspector/events HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(20))
    await once(client, 'data')
    expect(await ask(`${url}events`, { method: 'HEAD' })).toMatchObject({ status: 200 })
    client.destroy()
    await made.end()
  })
})

describe('the journal file', () => {
  test('has every entry, from the first to the report', async () => {
    const file = join(temporaryFolder(), 'journal.ndjson')
    const { made, url } = await inspected(true, file)
    const reader = await StreamReader.open(url)
    const report = await made.end()
    await reader.closed
    const entries = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as JournalEntry)
    expect(entries.map(({ n }) => n)).toEqual(entries.map((_, index) => index + 1))
    expect(entries).toEqual(reader.entries)
    expect(entries.at(-1)).toMatchObject({ kind: 'report', report: { exitCode: 0 } })
    expect(entries.filter((entry) => entry.kind === 'sent')[0]).toMatchObject({ event: { type: 'xstate.init' } })
    expect(new Recording(entries).report).toEqual(JSON.parse(JSON.stringify(report)))
  })

  test('that cannot be written is an error in the report, and nothing else', async () => {
    for (const path of [temporaryFolder(), join(temporaryFolder(), 'no', 'folder'), '/dev/null']) {
      const { made } = await inspected(false, path)
      const report = await made.end()
      expect(report).toMatchObject({ exitCode: 0, errors: [{ where: 'journal', error: { code: 'ERR_JOURNAL_WRITE' } }] })
    }
  })
})

describe('access', () => {
  test('on a loopback address is for whoever asks by address, not by a name that somebody has pointed here', async () => {
    const { url } = await inspected()
    const statusFor = async (host: string) => (await ask(`${url}report`, { headers: { Host: host } })).status
    for (const host of ['localhost', 'localhost:1', '127.0.0.1:80', '[::1]:9', 'app.localhost'])
      expect([host, await statusFor(host)]).toEqual([host, 200])
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:80'])
      expect([host, await statusFor(host)]).toEqual([host, 421])
  })

  test('with a token is for whoever brings it: in the URL, in the cookie of the first visit, as a bearer', async () => {
    const { url } = await inspected({ token: TOKEN })
    // A token that was given is not logged.
    expect(url).not.toContain(TOKEN)
    const status = async (path: string, headers: Record<string, string> = {}) => (await ask(`${url}${path}`, { headers })).status
    expect(await status('report')).toBe(401)
    expect(await status('events')).toBe(401)
    expect(await status('')).toBe(401)
    expect(await status(`report?token=${TOKEN}x`)).toBe(401)
    expect(await status(`report?token=${TOKEN}`, { Host: 'inspector.example' })).toBe(200)
    expect(await status('report', { Authorization: `Bearer ${TOKEN}` })).toBe(200)
    const visit = await ask(`${url}?token=${TOKEN}`)
    expect(visit).toMatchObject({ status: 303, headers: { location: './' } })
    const [cookie = ''] = visit.headers['set-cookie'] ?? []
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(await status('report', { Cookie: `other=1; ${cookie.split(';')[0]}` })).toBe(200)
    expect(await status('report', { Cookie: `${cookie.split('=')[0]}=wrong` })).toBe(401)
  })

  test('elsewhere needs a token in any case, which is made and logged', async () => {
    const { url, log, made } = await inspected({ host: '0.0.0.0' })
    const { searchParams, port } = new URL(url)
    const local = `http://127.0.0.1:${port}/inspector/`
    expect(searchParams.get('token')).toMatch(/^[\w-]{32}$/)
    expect((await ask(`${local}report`)).status).toBe(401)
    expect((await ask(`${local}report?token=${searchParams.get('token')}`)).status).toBe(200)
    const report = await made.end()
    expect(JSON.stringify(report)).not.toContain(searchParams.get('token'))
    expect(log.filter(({ fields }) => JSON.stringify(fields).includes(searchParams.get('token') as string))).toHaveLength(1)
  })

  test('is not for the scripts and sockets of other sites', async () => {
    const { url } = await inspected()
    const status = async (path: string, headers: Record<string, string>) => (await ask(`${url}${path}`, { headers })).status
    expect(await status('events', { 'Sec-Fetch-Site': 'cross-site' })).toBe(403)
    expect(await status('report', { 'Sec-Fetch-Site': 'same-site' })).toBe(403)
    expect(await status('report', { Origin: 'http://localhost:3000' })).toBe(403)
    expect(await status('report', { Origin: 'null' })).toBe(403)
    expect(await status('report', { Origin: new URL(url).origin, 'Sec-Fetch-Site': 'same-origin' })).toBe(200)
  })

  test('allows nothing from elsewhere, nor anything inline, nor a frame, whatever the answer', async () => {
    const { url } = await inspected({ token: TOKEN })
    const bearer = { Authorization: `Bearer ${TOKEN}` }
    const asked: readonly (readonly [path: string, headers: Record<string, string>, status: number, method?: string])[] = [
      ['report', bearer, 200],
      ['events', bearer, 200, 'HEAD'],
      [`?token=${TOKEN}`, {}, 303],
      ['official', bearer, 200],
      ['nothing.js', bearer, 404],
      ['report', bearer, 405, 'DELETE'],
      ['report', {}, 401],
      ['report', { ...bearer, Origin: 'null' }, 403],
      ['ws', { Connection: 'Upgrade', Upgrade: 'websocket' }, 401],
    ]
    for (const [path, headers, status, method = 'GET'] of asked) {
      const reply = await ask(`${url}${path}`, { headers, method })
      expect(reply).toMatchObject({
        status,
        headers: {
          'cache-control': 'no-store',
          'content-security-policy': expect.stringMatching(/^default-src 'none'; .*frame-ancestors 'none'/),
          'cross-origin-resource-policy': 'same-origin',
          'referrer-policy': 'no-referrer',
          'x-content-type-options': 'nosniff',
        },
      })
      expect(reply.headers['content-security-policy']).not.toContain('unsafe')
    }
    expect(await ask(`${url}report`, { headers: { ...bearer, Host: '[::ffff:127.0.0.1]' } })).toMatchObject({
      status: 400,
      body: 'Invalid host header\n',
      headers: { 'content-type': expect.stringMatching(/^text\/plain/) as string },
    })
    // Its Host cannot be read as one: it comes to no page.
    expect(await ask(`${url}report`, { headers: { ...bearer, Host: 'localhost/evil' } })).toMatchObject({
      status: 400,
      headers: { 'content-type': expect.stringMatching(/^text\/plain/) as string, 'x-content-type-options': 'nosniff' },
    })
    const stream = await StreamReader.open(url, bearer)
    expect(stream.headers).toMatchObject({
      'cache-control': 'no-store',
      'content-type': 'text/event-stream; charset=utf-8',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
  })
})

test('leaves the globals of the process as they are', async () => {
  const { Request, Response } = globalThis
  const { url } = await inspected()
  expect((await ask(`${url}report`)).status).toBe(200)
  expect([globalThis.Request, globalThis.Response]).toEqual([Request, Response])
})

describe('actions', () => {
  const JSON_BODY = { 'Content-Type': 'application/json' }

  test('are not there unless they are allowed', async () => {
    const { url, life } = await inspected()
    expect((await ask(`${url}stop`, { method: 'POST', headers: JSON_BODY })).status).toBe(403)
    expect(life.signal('StopRequested').aborted).toBe(false)
  })

  test('begin the shutdown for the page itself, and for no other site', async () => {
    const { url, made } = await inspected({ actions: true })
    const stop = async (headers: Record<string, string>, method = 'POST') => (await ask(`${url}stop`, { method, headers })).status
    expect(await stop(JSON_BODY, 'GET')).toBe(405)
    // What a form of another site can send.
    expect(await stop({ 'Content-Type': 'text/plain' })).toBe(415)
    expect(await stop({})).toBe(415)
    expect(await stop({ ...JSON_BODY, Origin: 'http://evil.example' })).toBe(403)
    expect(await stop({ ...JSON_BODY, 'Sec-Fetch-Site': 'cross-site' })).toBe(403)
    expect(made.hasFired('StopRequested')).toBe(false)
    expect(await stop({ ...JSON_BODY, Origin: new URL(url).origin })).toBe(202)
    await made.fired('StopRequested')
    expect(await made.end()).toMatchObject({ reason: { kind: 'stop', reason: 'asked for in the inspector' } })
  })

  test.each([
    ['ends well', () => undefined],
    ['fails', () => Promise.reject(new Error('no load'))],
  ])('a drill that %s is followed by the shutdown', async (_, drill) => {
    const { url, made } = await inspected({ actions: true, drill })
    const reader = await StreamReader.open(url)
    await reader.until((entry) => entry.kind === 'gauges')
    expect(reader.session).toMatchObject({ canStop: true, canDrill: true })
    expect((await ask(`${url}drill`, { method: 'POST', headers: JSON_BODY })).status).toBe(202)
    await reader.until(isSignal('StopRequested'))
    await made.end()
  })
})

describe('the other routes', () => {
  test('answer the chart, the report and the journal, and refuse the rest in a line', async () => {
    const { url } = await inspected()
    expect(await ask(`${url}chart.svg`)).toMatchObject({
      status: 200,
      headers: { 'content-type': expect.stringContaining('image/svg+xml') },
      body: expect.stringContaining('data-state="lifecycle.running.request-drain.working"'),
    })
    expect(JSON.parse((await ask(`${url}chart.json`)).body)).toMatchObject({ root: { id: 'lifecycle' }, edges: expect.arrayContaining([]) })
    expect(JSON.parse((await ask(`${url}report`)).body)).toMatchObject({ version: 1, exitCode: 0 })
    const { body } = await ask(`${url}journal`)
    expect(JSON.parse(body.split('\n')[0] as string)).toMatchObject({ n: 1, kind: 'opening' })
    expect(await ask(url.replace('/inspector/', '/'))).toMatchObject({ status: 303, headers: { location: 'inspector/' } })
    expect(await ask(`${url}nothing.js`)).toMatchObject({ status: 404, body: 'nothing.js: not a file of the inspector\n' })
    expect((await ask(`${url}../../package.json`)).status).toBe(404)
    expect((await ask(`${url}%2e%2e/protocol.ts`)).status).toBe(404)
    expect(await ask(`${url}report`, { method: 'DELETE' })).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
    expect((await ask(`${url}events`, { method: 'HEAD' })).status).toBe(200)
  })
})

test('an inspector that cannot listen is a failed start, like every other listener', async () => {
  const { url } = await inspected()
  const second = newLife({ options: { inspector: { port: Number(new URL(url).port) } } })
  await expect(second.life.start()).rejects.toThrow(/could not start: bind.*EADDRINUSE/)
})
