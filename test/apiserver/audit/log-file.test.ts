// The file of an audit log. Fails when: an event that was stored is in none of its files, or in
// two; a line is torn; a file can be read by others; full files are not put aside, kept, compressed
// or removed as they should; or trouble with one of them, or another hand on it, costs an event.
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { fileWriter, makeFolderOf } from '#apiserver/audit/file-writer.ts'
import { stdoutWriter } from '#apiserver/audit/line-writers.ts'
import { logBackend } from '#apiserver/audit/log-backend.ts'
import { Rotation, type RotationSettings } from '#apiserver/audit/rotation.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { LogDestination } from '#src/log/log-destination.ts'
import { event, events } from './sink.ts'

/** A folder that is gone when the test is over. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'quiesce-audit-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** A file is full of two or three of these. */
const LARGE = { requestURI: `/${'x'.repeat(400_000)}` }
const signal = (): AbortSignal => new AbortController().signal

async function opened(path: string, settings: Partial<RotationSettings> = {}, clock = new VirtualClock()) {
  const failures: string[] = []
  const failed = (what: string): void => void failures.push(what)
  const rotation = new Rotation({ maxSize: 1, maxAge: 0, maxBackups: 0, compress: false, ...settings }, clock, ({ message }) =>
    failed(`rotation: ${message}`),
  )
  const log = logBackend(fileWriter(path, rotation), 'json', (plugin, { message }) => failed(`${plugin}: ${message}`))
  await log.run({ signal: signal() })
  /** Whether each of them was stored. */
  const store = (from: number, count: number, more = {}): readonly unknown[] =>
    events(count, from).map((one) => log.processEvents([{ ...one, ...more }]))
  return { log, failures, clock, store, close: async () => log.shutdown({ signal: signal() }) }
}

const textOf = (path: string): string => (path.endsWith('.gz') ? gunzipSync(readFileSync(path)).toString() : readFileSync(path, 'utf8'))

/** The ids of the events in all files of a folder; a torn line throws. */
const storedIn = (...folders: readonly string[]): readonly number[] =>
  folders
    .flatMap((path) => readdirSync(path).map((name) => join(path, name)))
    .filter((path) => statSync(path).isFile())
    .flatMap((path) => textOf(path).split('\n'))
    .filter((line) => line !== '')
    .map((line) => Number((JSON.parse(line) as { readonly auditID: string }).auditID))
    .sort((a, b) => a - b)

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, id) => id)
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)
const asideIn = (path: string): readonly string[] => readdirSync(path).filter((name) => name.startsWith('audit-'))

test('a full file is put aside by the time, privately, before the line for which it has no room', async () => {
  const inside = folder()
  const { store, close, clock } = await opened(join(inside, 'audit.log'))
  for (let at = 0; at < 6; at += 2) {
    expect(store(at, 2, LARGE)).toEqual([true, true])
    await clock.advance(1)
  }
  expect(asideIn(inside).toSorted()).toEqual(['audit-2026-01-01T00-00-00.001.log', 'audit-2026-01-01T00-00-00.002.log'])
  expect(readdirSync(inside).map((name) => modeOf(join(inside, name)))).toEqual(['600', '600', '600'])
  await close()
  expect(storedIn(inside)).toEqual(upTo(6))
})

test('files that are full in the same millisecond have names of their own, and none takes the place of another', async () => {
  const inside = folder()
  const { store } = await opened(join(inside, 'audit.log'), { maxSize: 1 })
  writeFileSync(join(inside, 'audit-2026-01-01T00-00-00.001.log.gz'), '')
  store(0, 8, LARGE)
  expect(asideIn(inside).toSorted()).toEqual(
    ['000.log', '001.log.gz', '002.log', '003.log'].map((end) => `audit-2026-01-01T00-00-00.${end}`),
  )
  rmSync(join(inside, 'audit-2026-01-01T00-00-00.001.log.gz'))
  expect(storedIn(inside)).toEqual(upTo(8))
})

test('a line that is larger than a file may be has one of its own', async () => {
  const inside = folder()
  const { store } = await opened(join(inside, 'audit.log'))
  expect([...store(0, 1), ...store(1, 1, { requestURI: `/${'x'.repeat(1_200_000)}` }), ...store(2, 1)]).toEqual([true, true, true])
  expect(asideIn(inside)).toHaveLength(2)
  expect(storedIn(inside)).toEqual(upTo(3))
})

test('of those put aside as many are kept as is said, and for as long', async () => {
  const inside = folder()
  const { store, clock } = await opened(join(inside, 'audit.log'), { maxBackups: 2, maxAge: 1 })
  writeFileSync(join(inside, 'audit-of-mine.log'), '')
  for (let at = 0; at < 10; at += 2) {
    store(at, 2, LARGE)
    await clock.advance(1_000)
  }
  expect(storedIn(inside)).toEqual([4, 5, 6, 7, 8, 9])
  await clock.advance('2d')
  store(10, 2, LARGE)
  expect(storedIn(inside)).toEqual([8, 9, 10, 11])
  expect(existsSync(join(inside, 'audit-of-mine.log'))).toBe(true)
})

test('they are compressed, also those that an earlier process has left, and what it has not finished is removed', async () => {
  const inside = folder()
  const path = join(inside, 'audit.log')
  const first = await opened(path, { compress: true })
  first.store(0, 4, LARGE)
  // It ends in the middle of compressing.
  await first.close()
  const unfinished = join(inside, 'audit-2026-01-01T00-00-00.000.log.gz.0123456789abcdef.tmp')
  writeFileSync(unfinished, 'half')
  utimesSync(unfinished, 0, 0)
  expect(asideIn(inside).filter((name) => name.endsWith('.log'))).toHaveLength(1)
  const second = await opened(path, { compress: true })
  second.store(4, 2, LARGE)
  await expect.poll(() => asideIn(inside).filter((name) => name.endsWith('.gz'))).toHaveLength(2)
  await expect.poll(() => asideIn(inside)).toHaveLength(2)
  await second.close()
  expect(storedIn(inside)).toEqual(upTo(6))
  expect(readdirSync(inside).map((name) => modeOf(join(inside, name)))).toEqual(['600', '600', '600'])
  expect([...first.failures, ...second.failures]).toEqual([])
})

test('two processes that write to one file lose nothing of it', async () => {
  const inside = folder()
  const [one, other] = [await opened(join(inside, 'audit.log')), await opened(join(inside, 'audit.log'))]
  for (let at = 0; at < 12; at += 2) expect([...one.store(at, 1, LARGE), ...other.store(at + 1, 1, LARGE)]).toEqual([true, true])
  expect(asideIn(inside)).toHaveLength(5)
  expect(storedIn(inside)).toEqual(upTo(12))
})

test('a file that is moved, removed or emptied by another hand is begun anew at once', async () => {
  const inside = folder()
  const path = join(inside, 'audit.log')
  const { store, close } = await opened(path)
  store(0, 1)
  renameSync(path, join(inside, 'audit.log.1'))
  store(1, 1)
  expect([storedIn(inside), textOf(path)]).toEqual([[0, 1], expect.stringContaining('"auditID":"1"')])
  rmSync(path)
  store(2, 1)
  expect(textOf(path)).toContain('"auditID":"2"')
  truncateSync(path)
  store(3, 1)
  rmSync(inside, { recursive: true })
  expect(store(4, 1)).toEqual([true])
  expect([modeOf(inside), modeOf(path), storedIn(inside)]).toEqual(['700', '600', [4]])
  await close()
})

test('where no file can be made, the one that was moved is written to, and nothing is lost', async () => {
  const inside = join(folder(), 'logs')
  const { store, failures, log } = await opened(join(inside, 'audit.log'))
  store(0, 1)
  renameSync(inside, `${inside}-away`)
  writeFileSync(inside, '')
  expect(store(1, 1, LARGE)).toEqual([true])
  expect(storedIn(`${inside}-away`)).toEqual([0, 1])
  rmSync(`${inside}-away`, { recursive: true })
  expect(store(2, 1)).toEqual([false])
  rmSync(inside)
  expect(store(3, 1)).toEqual([true])
  expect([storedIn(inside), failures, log.counts()]).toEqual([
    [3],
    [expect.stringMatching(/^log: /)],
    { delivered: 3, lost: 1, pending: 0 },
  ])
})

test.skipIf(process.getuid?.() === 0 && platform() !== 'linux')(
  'what cannot be put aside grows, which is said, and is tried again later',
  async () => {
    const inside = folder()
    const path = join(inside, 'audit.log')
    const clock = new VirtualClock()
    const { store, failures } = await opened(path, {}, clock)
    // Of the names of a folder none can be taken: the longest that there may be.
    const long = join(inside, `${'n'.repeat(250)}.log`)
    const other = await opened(long, {}, clock)
    expect(other.store(0, 6, LARGE)).toEqual(Array(6).fill(true))
    expect(other.failures).toEqual(['rotation: the audit log is full, and could not be rotated, so it keeps growing: ENAMETOOLONG'])
    await clock.advance('2s')
    other.store(6, 2, LARGE)
    expect(other.failures).toHaveLength(2)
    expect(storedIn(inside)).toEqual(upTo(8))
    expect([store(8, 1), failures]).toEqual([[true], []])
  },
)

test('a file keeps the permissions that were given to the one before it, and a link leads to the next one, too', async () => {
  const inside = folder()
  const path = join(inside, 'audit.log')
  mkdirSync(join(inside, 'volume'))
  symlinkSync(join(inside, 'volume', 'audit.log'), path)
  const { store } = await opened(path)
  store(0, 2, LARGE)
  chmodSync(path, 0o640)
  store(2, 2, LARGE)
  expect(readdirSync(inside).toSorted()).toEqual(['audit.log', 'volume'])
  expect(asideIn(join(inside, 'volume'))).toHaveLength(1)
  expect(modeOf(join(inside, 'volume', 'audit.log'))).toBe('640')
  expect(storedIn(join(inside, 'volume'))).toEqual(upTo(4))
})

test('what an earlier process has left torn stays a line of its own', async () => {
  const inside = folder()
  const path = join(inside, 'audit.log')
  writeFileSync(path, '{"auditID":"tor')
  const { store } = await opened(path)
  store(0, 1)
  expect(textOf(path)).toMatch(/^\{"auditID":"tor\n\{.*"auditID":"0".*\}\n$/)
})

test('what comes when it is closed is stored like any other, whichever file has its number then', async () => {
  const inside = folder()
  const { store, close, log } = await opened(join(inside, 'audit.log'))
  await close()
  const other = openSync(join(inside, 'other'), 'w')
  expect(store(0, 1)).toEqual([true])
  expect(log.processEvents(events(2, 1))).toBe(true)
  closeSync(other)
  expect([readFileSync(join(inside, 'other'), 'utf8'), storedIn(inside)]).toEqual(['', [0, 1, 2]])
})

test('it is refused at the start where nothing can be written, and never rotates what is no file', async () => {
  await expect(opened(folder())).rejects.toMatchObject({ code: 'EISDIR' })
  const inside = join(folder(), 'a', 'b', 'audit.log')
  makeFolderOf(inside)
  expect([modeOf(dirname(inside)), modeOf(dirname(dirname(inside)))]).toEqual(['700', '700'])
  if (platform() !== 'linux') return
  // Node's own way of making all folders of a path never comes back from here.
  expect(() => makeFolderOf('/proc/1/x/y/audit.log')).toThrow(/ENOENT/)
  const { store } = await opened('/dev/null')
  expect(store(0, 4, LARGE)).toEqual(Array(4).fill(true))
})

test('on standard output a line is stored when its reader has it', async () => {
  const taken: string[] = []
  let isFull = false
  const clock = new VirtualClock()
  const write = (_fd: number, bytes: Uint8Array, offset: number, length: number): number => {
    if (isFull) throw Object.assign(new Error('full'), { code: 'EAGAIN' })
    taken.push(Buffer.from(bytes.subarray(offset, offset + length)).toString())
    return length
  }
  const log = logBackend(stdoutWriter(new LogDestination({ fd: 1, clock, write, pendingBytesMax: 600 })), 'json', () => {})
  expect(log.processEvents([event(0)])).toBe(true)
  isFull = true
  const verdicts = [1, 2, 3, 4, 5, 6].map((id) => log.processEvents([event(id)]))
  expect(log.counts()).toMatchObject({ delivered: 1 })
  isFull = false
  await clock.advance('1s')
  // The last one found no room among those that wait.
  expect(await Promise.all(verdicts.map(async (verdict) => verdict))).toContain(false)
  const { delivered, lost, pending } = log.counts()
  expect([delivered + lost, pending, taken.length > 1]).toEqual([7, 0, true])
})
