// Fails when: a backend loses, doubles or reorders events, counts wrong what became of them, tries
// a webhook more often or sooner than upstream does, or keeps a shutdown waiting past its signal.
import { mkdtempSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { PluginFailed } from '#apiserver/audit/backend.ts'
import { fileWriter } from '#apiserver/audit/file-writer.ts'
import { ignoreErrors } from '#apiserver/audit/ignore-errors.ts'
import { logBackend } from '#apiserver/audit/log-backend.ts'
import { truncateBackend } from '#apiserver/audit/truncate.ts'
import { unionBackend } from '#apiserver/audit/union.ts'
import { WebhookBackend } from '#apiserver/audit/webhook-backend.ts'
import { completeConfig } from '#apiserver/config.ts'
import type { Poster } from '#apiserver/webhook/client.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { row } from '../../support/row.ts'
import { event, events, Sink } from './sink.ts'

const signal = (): AbortSignal => new AbortController().signal

describe('a union', () => {
  row('AU-09', 'gives each backend all events, in order', () => {
    const sinks = [new Sink(), new Sink(), new Sink()]
    const union = unionBackend(sinks)
    for (const one of events(5)) expect(union.processEvents([one])).toBe(true)
    for (const { ids } of sinks) expect(ids).toEqual(['0', '1', '2', '3', '4'])
    expect(union.counts()).toEqual({ delivered: 15, lost: 0, pending: 0 })
  })

  row('AU-10', 'runs each backend once, and shuts each down, whatever the others do', async () => {
    const sinks = [new Sink(), new Sink(), new Sink()]
    const failing = {
      ...ignoreErrors(new Sink()),
      run: () => Promise.reject(new Error('no disk')),
      shutdown: () => Promise.reject(new Error('gone')),
    }
    const union = unionBackend([failing, ...sinks])
    await expect(union.run({ signal: signal() })).rejects.toThrow('no disk')
    await expect(union.shutdown({ signal: signal() })).rejects.toThrow('gone')
    for (const { log } of sinks) expect(log).toEqual(['run', 'shutdown'])
  })

  test('says false when one of them does, now or later, and asks all of them', async () => {
    const [first, second] = [new Sink(), new Sink()]
    first.answer = false
    expect(unionBackend([first, second]).processEvents(events(1))).toBe(false)
    first.answer = Promise.resolve(false)
    expect(await unionBackend([second, first, second]).processEvents(events(1))).toBe(false)
    expect(second.calls).toHaveLength(3)
  })
})

test('errors that are ignored are true', async () => {
  const sink = new Sink()
  sink.answer = false
  expect(ignoreErrors(sink).processEvents(events(1))).toBe(true)
  sink.answer = Promise.resolve(false)
  expect(await ignoreErrors(sink).processEvents(events(1))).toBe(true)
  expect(ignoreErrors(sink).counts()).toEqual({ delivered: 0, lost: 2, pending: 0 })
})

describe('truncation', () => {
  const settings = { maxEventSize: 500, maxBatchSize: 600 }
  const body = { text: 'x'.repeat(500) }

  test('takes the bodies out of an event that is too large', () => {
    const sink = new Sink()
    void truncateBackend(sink, settings, () => {}).processEvents([
      event(1, { level: 'Request', requestObject: body, annotations: { b: '1' } }),
    ])
    expect(sink.calls).toEqual([[event(1, { level: 'Request', annotations: { 'audit.k8s.io/truncated': 'true', b: '1' } })]])
  })

  test('drops one that is too large without them, and says so', () => {
    const sink = new Sink()
    const failures: unknown[] = []
    const backend = truncateBackend(sink, settings, (plugin, { message }, count) => void failures.push([plugin, message, count]))
    expect(backend.processEvents([event(1, { requestURI: `/${'x'.repeat(500)}` }), event(2)])).toBe(true)
    expect([sink.ids, failures]).toEqual([['2'], [['truncate', 'event is too large even after truncating', 1]]])
    expect(backend.counts()).toEqual({ delivered: 1, lost: 1, pending: 0 })
  })

  test('splits a batch that is too large', () => {
    const sink = new Sink()
    void truncateBackend(sink, settings, () => {}).processEvents(events(5))
    expect([sink.sizes, sink.ids]).toEqual([
      [2, 2, 1],
      ['0', '1', '2', '3', '4'],
    ])
  })
})

/** A folder that is gone when the test is over. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'quiesce-audit-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

describe('a log', () => {
  test('has a line for each event, and its file and folder are private', async () => {
    const path = join(folder(), 'deep', 'audit.log')
    const log = logBackend(fileWriter(path), 'json', () => {})
    await log.run({ signal: signal() })
    expect(log.processEvents([event('<1>'), event(2)])).toBe(true)
    expect(
      readFileSync(path, 'utf8')
        .split('\n')
        .map((line) => line.slice(0, 87)),
    ).toEqual([
      JSON.stringify(event('<1>')).replace('<', '\\u003c').replace('>', '\\u003e').slice(0, 87),
      JSON.stringify(event(2)).slice(0, 87),
      '',
    ])
    expect([statSync(path).mode & 0o777, statSync(join(path, '..')).mode & 0o777]).toEqual([0o600, 0o700])
    await log.shutdown({ signal: signal() })
    expect(log.counts()).toEqual({ delivered: 2, lost: 0, pending: 0 })
  })

  test('writes many lines at a time as they are, short, long and of any script', async () => {
    const path = join(folder(), 'audit.log')
    const file = fileWriter(path)
    await file.open?.()
    const of = (length: number, at: number): string => `${'a\u043F\u{1F642}'.repeat(length)}${at}\n`
    const lines = [1, 25_000, 20_000, 30_000, 100_000, 2, 43_690, 1].map(of)
    expect(file.writeAll?.([...lines, ...lines])).toBe(2 * lines.length)
    expect(readFileSync(path, 'utf8')).toBe([...lines, ...lines].join(''))
  })

  test('tries all events of a call, and says false when one failed', async () => {
    const written: string[] = []
    const writer = {
      write: (line: string) => {
        if (line.includes('"1"')) throw new Error('no disk')
        written.push(line)
      },
    }
    const failures: string[] = []
    const log = logBackend(writer, 'json', (plugin, { message }, count) => void failures.push(`${plugin} ${message} ${count}`))
    expect(log.processEvents(events(3))).toBe(false)
    expect([written.length, failures]).toEqual([2, ['log no disk 1']])
    expect(log.counts()).toEqual({ delivered: 2, lost: 1, pending: 0 })
  })

  test('writes the events of a call at a time, and those behind one that failed one by one', () => {
    const written: string[] = []
    const writer = {
      write: (line: string) => {
        if (line.includes('"2"')) throw new Error('no disk')
        written.push(line)
      },
      writeAll: (lines: readonly string[]) => {
        written.push(...lines.slice(0, 2))
        return 2
      },
    }
    const failures: string[] = []
    const log = logBackend(writer, 'json', (plugin, { message }, count) => void failures.push(`${plugin} ${message} ${count}`))
    expect(log.processEvents(events(5))).toBe(false)
    expect([written.map((line) => (JSON.parse(line) as { auditID: string }).auditID), failures]).toEqual([
      ['0', '1', '3', '4'],
      ['log no disk 1'],
    ])
    expect(log.counts()).toEqual({ delivered: 4, lost: 1, pending: 0 })
  })

  test.skipIf(process.platform !== 'linux')('on a disk that is full counts what is not there', async () => {
    const failures: string[] = []
    const log = logBackend(
      fileWriter('/dev/full'),
      'json',
      (plugin, { message }, count) => void failures.push(`${plugin} ${message} ${count}`),
    )
    await log.run({ signal: signal() })
    expect(log.processEvents(events(2))).toBe(false)
    expect(failures).toEqual(Array(2).fill('log ENOSPC: no space left on device, write 1'))
    expect(log.counts()).toEqual({ delivered: 0, lost: 2, pending: 0 })
    await log.shutdown({ signal: signal() })
  })

  test('keeps the rest of a line that a full disk has cut apart from the next one', async () => {
    const path = join(folder(), 'audit.log')
    let room = Number.POSITIVE_INFINITY
    const put = (file: number, bytes: Buffer, from: number): number => {
      if (room === 0) throw new Error('ENOSPC: no space left on device, write')
      const written = writeSync(file, bytes, from, Math.min(room, bytes.length - from))
      room -= written
      return written
    }
    const log = logBackend(fileWriter(path, undefined, put), 'json', () => {})
    await log.run({ signal: signal() })
    for (const full of [100, 0]) {
      room = full
      expect(log.processEvents([event('lost')])).toBe(false)
    }
    room = Number.POSITIVE_INFINITY
    expect(log.processEvents([event('one')])).toBe(true)
    room = 300
    expect(log.processEvents(events(2))).toBe(false)
    room = Number.POSITIVE_INFINITY
    expect(log.processEvents(events(2, 2))).toBe(true)
    await log.shutdown({ signal: signal() })
    const ids = readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line) => /"auditID":"(\w+)".*}$/.exec(line)?.[1] ?? [])
    expect(ids).toEqual(['one', '0', '2', '3'])
    expect(log.counts()).toEqual({ delivered: 4, lost: 3, pending: 0 })
  })

  test('may be in the older format', () => {
    const written: string[] = []
    const log = logBackend({ write: (line) => void written.push(line) }, 'legacy', () => {})
    void log.processEvents([
      event('a', {
        user: { username: 'ann', groups: ['dev', 'ops'] },
        sourceIPs: ['10.0.0.9'],
        responseStatus: { metadata: {}, code: 200 },
      }),
    ])
    expect(written).toEqual([
      '2026-01-01T00:00:00Z AUDIT: id="a" stage="ResponseComplete" ip="10.0.0.9" method="get" user="ann" groups="\\"dev\\",\\"ops\\"" as="<self>" ' +
        'asgroups="<lookup>" user-agent="" namespace="<none>" uri="/" response="200"\n',
    ])
    // Its client chooses the id, and may choose quotes and control characters.
    void log.processEvents([event('x" user="root\x9b', { userAgent: '"\x7f' })])
    expect(written[1]).toContain('AUDIT: id="x\\" user=\\"root\\u009b" stage="ResponseComplete"')
    expect(written[1]).toContain('user-agent="\\"\\x7f"')
  })
})

/** A webhook whose server answers as the test says, on a clock of its own. */
function webhook(...answers: readonly (number | Error)[]) {
  const clock = new VirtualClock()
  const posts: { at: number; body: unknown }[] = []
  const failures: string[] = []
  const client: Poster = {
    open: () => Promise.resolve(),
    post: async (body, signal) => {
      signal.throwIfAborted()
      const answer = answers[Math.min(posts.length, answers.length - 1)] as number | Error
      posts.push({ at: clock.now(), body: JSON.parse(body) })
      if (answer instanceof Error) throw answer
      return { status: answer, retryAfter: undefined, body: '' }
    },
    close: () => {},
  }
  const failed: PluginFailed = (plugin, { message }, count) => void failures.push(`${plugin} ${message} ${count}`)
  const backend = new WebhookBackend(client, 10_000, { clock, random: () => 0, failed })
  return { clock, posts, failures, backend }
}

describe('a webhook', () => {
  test('is posted a list of the events', async () => {
    const { backend, posts } = webhook(200)
    expect(await backend.processEvents(events(2))).toBe(true)
    expect(posts).toEqual([
      {
        at: 0,
        body: {
          kind: 'EventList',
          apiVersion: 'audit.k8s.io/v1',
          metadata: {},
          items: events(2).map(({ kind: _, apiVersion: __, ...item }) => item),
        },
      },
    ])
    expect(backend.counts()).toEqual({ delivered: 2, lost: 0, pending: 0 })
  })

  test('is tried five times, with growing delays, whatever fails', async () => {
    const { backend, posts, clock, failures } = webhook(500, new Error('refused'), 403, 500)
    const verdict = backend.processEvents(events(2))
    await clock.runToEnd()
    expect(await verdict).toBe(false)
    expect(posts.map(({ at }) => at)).toEqual([0, 10_000, 25_000, 47_500, 81_250])
    expect(failures).toEqual(['webhook the webhook answered 500 2'])
    expect(backend.counts()).toEqual({ delivered: 0, lost: 2, pending: 0 })
  })

  test.each([200, 204, 206])('has taken what it answers with %i', async (status) => {
    const { backend, posts } = webhook(status)
    expect(await backend.processEvents(events(1))).toBe(true)
    expect(posts.length).toBe(1)
  })

  test.each([199, 207, 299, 304, 308])('has not taken what it answers with %i', async (status) => {
    const { backend, posts, clock } = webhook(status, 200)
    const verdict = backend.processEvents(events(1))
    await clock.runToEnd()
    expect(await verdict).toBe(true)
    expect(posts.length).toBe(2)
  })

  test('that waits is tried at once when the server ends', async () => {
    const { backend, posts, clock } = webhook(500, 200)
    const stop = new AbortController()
    void backend.run({ signal: stop.signal })
    void backend.processEvents(events(1))
    await clock.advance(1_000)
    stop.abort()
    await backend.shutdown({ signal: signal() })
    expect(posts.map(({ at }) => at)).toEqual([0, 1_000])
    expect(backend.counts()).toEqual({ delivered: 1, lost: 0, pending: 0 })
  })

  test('is given up when shutdown is cut', async () => {
    const { backend, clock } = webhook(500)
    const cut = new AbortController()
    void backend.processEvents(events(1))
    await clock.advance(0)
    const ended = backend.shutdown({ signal: cut.signal })
    cut.abort(new Error('out of time'))
    await ended
    expect(backend.counts()).toEqual({ delivered: 0, lost: 1, pending: 0 })
  })
})

test.each([
  [{ truncateMaxBatchSize: 100 }, 'auditLog.truncateMaxBatchSize: got 100, allowed: at least 102400,'],
  [{ truncateMaxEventSize: 20_000_000 }, 'auditLog.truncateMaxBatchSize: got 10485760, allowed: at least 20000000,'],
])('a batch that could not hold an event is refused: %j', (sizes, words) => {
  expect(() => completeConfig({ auditLog: { path: '-', ...sizes } })).toThrow(words)
  expect(() => completeConfig({ auditLog: { path: '-', ...sizes, truncateMaxBatchSize: 20_000_000 } })).not.toThrow()
})
