// A store in a file, in processes that are killed, on disks that are full, and with pages that are
// not what was written. Fails when: an acknowledged write is lost, a revision is used twice, what
// is not durable is read, garbage is read, or the file grows for ever.
import { spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { isBuiltin, syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import workerThreads, { type Worker } from 'node:worker_threads'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type FileEngineOptions, fileEngine, verifyFile } from '#apiserver/store/file-engine.ts'
import { type KeyValueStore, type OpenContext, type StoreCondition, withPrefix } from '#apiserver/store/key-value-store.ts'
import type { StoreError } from '#apiserver/store/store-error.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { generator } from '../support/random.mjs'
import { seed } from '../support/seed.ts'
import { type Said, StoreProcess } from './store-process.ts'

/** `npm run test:crash` has two hundred. */
const CRASHES = Number(process.env['CRASH_RUNS'] ?? 8)
const WRITERS = 12

/** Whole numbers from one to another, both included, that the seed decides. */
function integers(): (from: number, to: number) => number {
  const random = generator(seed)
  return (from, to) => from + Math.floor(random() * (to - from + 1))
}

async function folderOf(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-file-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Has a thread stand still where it asks the system for a file, as long as its gate is 1. */
const GATED = `{
  const fs = require('node:fs')
  const { statSync } = fs
  const { gate } = require('node:worker_threads').workerData
  fs.statSync = (...given) => (Atomics.wait(gate, 0, 1), statSync(...given))
}`

/** The threads that are begun from now on in a test. */
function watchThreads(gate?: Int32Array): readonly Worker[] {
  const threads: Worker[] = []
  const { Worker: Original } = workerThreads
  class Watched extends Original {
    constructor(...[program, options]: ConstructorParameters<typeof Original>) {
      if (gate === undefined) super(program, options)
      else super(`${GATED}${String(program)}`, { ...options, workerData: { ...options?.workerData, gate } })
      threads.push(this)
    }
  }
  const use = (one: typeof Original): void => {
    Object.assign(workerThreads, { Worker: one })
    syncBuiltinESMExports()
  }
  use(Watched)
  onTestFinished(() => use(Original))
  return threads
}

async function openFile(options: FileEngineOptions, onCondition: OpenContext['onCondition'] = () => {}): Promise<KeyValueStore> {
  const store = await fileEngine(options).open({ signal: new AbortController().signal, onCondition })
  onTestFinished(() => store.close())
  return store
}

const refusalOf = (options: FileEngineOptions): Promise<StoreError | undefined> =>
  openFile(options).then(
    async (store) => {
      await store.close()
      return undefined
    },
    (error: StoreError) => error,
  )

if (!isBuiltin('node:sqlite'))
  test('a Node without SQLite is told so, with what it can use', () => {
    expect(() => fileEngine({ path: 'store.db' })).toThrow(/since 22\.13; this is Node v20.*memory or etcd:/s)
  })
else {
  test('options that cannot be are refused by their names', () => {
    expect(() => fileEngine({ path: '' })).toThrow('path of fileEngine()')
    expect(() => fileEngine({ path: 'a', history: -1 })).toThrow('history of fileEngine()')
    expect(() => fileEngine({ path: 'a', compactionInterval: Number.NaN })).toThrow('compactionInterval of fileEngine()')
    // The next revisions would be no numbers any more, or none that clients may send.
    for (const revision of [Number.MAX_SAFE_INTEGER, 1e15])
      expect(() => fileEngine({ path: 'a', revision })).toThrow('revision of fileEngine()')
  })

  test('a file has one process at a time, and the next one as soon as that is killed', async () => {
    const path = join(await folderOf(), 'store.db')
    const first = new StoreProcess({ path })
    await first.hears(({ opened }) => opened !== undefined)
    await first.put('/a', 3)
    const second = new StoreProcess({ path })
    const { refused, message } = await second.hears((said) => 'refused' in said)
    expect([refused, message]).toEqual(['unavailable', `${path} is in use by another process; one server at a time can use a file`])
    await first.kill()
    const third = new StoreProcess({ path })
    expect(await third.hears(({ opened }) => opened !== undefined)).toEqual({ opened: 2 })
    expect(await refusalOf({ path })).toMatchObject({ message: expect.stringContaining('is in use') })
  })

  test(
    'what was acknowledged or seen is there after a kill, and no revision is used twice',
    async () => {
      const path = join(await folderOf(), 'store.db')
      const integer = integers()
      /** By revision, of all lives: acknowledged or seen by a watch. */
      const ledger = new Map<number, string>()
      const last = new Map<string, number>()
      let seen = 1
      const faults: string[] = []
      for (let run = 0; run < CRASHES; run++) {
        // Every third life forgets, as quickly as it can; the second goes on where the first was.
        const forgets = run % 3 === 2
        const settings = forgets ? { compactionInterval: 5, history: 20 } : { compactionInterval: 3_600_000 }
        const life = new StoreProcess({ path, ...settings })
        await life.hears((said) => 'opened' in said || 'refused' in said)
        if (run % 3 !== 1) seen = Number(life.said.find((said) => 'opened' in said)?.['opened'])
        life.tell('watch', { after: seen })
        life.tell('writers', { count: WRITERS })
        await life.hears((said) => 'acknowledged' in said)
        const wanted = life.said.length + integer(1, 150)
        await expect.poll(() => life.said.length, { interval: 1 }).toBeGreaterThan(wanted)
        await life.kill()
        for (const said of life.said) {
          if ('refused' in said || ('ended' in said && !forgets)) faults.push(`run ${run}: ${JSON.stringify(said)}`)
          const revision = Number(said['acknowledged'] ?? said['seen'] ?? 0)
          if (revision === 0) continue
          const what = `${said['key']}=${said['number']}`
          if (ledger.has(revision) && ledger.get(revision) !== what)
            faults.push(`run ${run}: revision ${revision} was ${ledger.get(revision)} and is ${what}`)
          ledger.set(revision, what)
          last.set(said['key'] as string, Math.max(last.get(said['key'] as string) ?? 0, Number(said['number'])))
          if (!('seen' in said)) continue
          if (revision !== seen + 1) faults.push(`run ${run}: behind ${seen} a watch has seen ${revision}`)
          seen = revision
        }
        const store = await openFile({ path, compactionInterval: 3_600_000 })
        const { entries } = await store.range({ from: '/w/' })
        const there = new Map(entries.map(({ key, value }) => [key, Number(Buffer.from(value).toString())]))
        for (const [key, number] of last) {
          const now = there.get(key) ?? 0
          // One more may have become durable and not been answered.
          if (now !== number && now !== number + 1) faults.push(`run ${run}: ${key} is ${now}, and ${number} was acknowledged`)
        }
        if ((await store.revision()) < Math.max(...ledger.keys())) faults.push(`run ${run}: the revision has gone back`)
        for (const { key, value, modRevision } of entries)
          if ((ledger.get(modRevision) ?? `${key}=${Buffer.from(value).toString()}`) !== `${key}=${Buffer.from(value).toString()}`)
            faults.push(`run ${run}: ${key}@${modRevision} is ${Buffer.from(value).toString()}, and was ${ledger.get(modRevision)}`)
        await store.close()
      }
      expect(faults).toEqual([])
      expect(ledger.size).toBeGreaterThan(CRASHES * 5)
    },
    20_000 + CRASHES * 5_000,
  )

  test('a file that is closed while its thread is started anew is nobody’s afterwards', async () => {
    const path = join(await folderOf(), 'store.db')
    const threads = watchThreads()
    const store = await openFile({ path })
    await store.put({ key: '/a', value: new Uint8Array(3) })
    await threads[0]?.terminate()
    await expect.poll(() => threads.length, { interval: 1, timeout: 5_000 }).toBe(2)
    await store.close()
    expect(threads[1]?.threadId).toBe(-1)
    expect(await (await openFile({ path })).revision()).toBe(2)
  })

  test.for(['store.db', ':memory:', 'file:store?mode=memory'])(
    '%s is a file in the folder of the process, and no name of SQLite’s own',
    async (path) => {
      const folder = await folderOf()
      const life = new StoreProcess({ path }, ['sh', '-c', `cd ${folder} && exec "$@"`, 'sh'])
      await life.hears((said) => 'opened' in said)
      expect(await life.put('/a', 1)).toMatchObject({ isDone: true })
      expect(existsSync(join(folder, path))).toBe(true)
    },
  )

  /** How a program in a module of its own ends that has the engine, and what it says. */
  async function endOf(program: string) {
    const engine = new URL('../../packages/apiserver/dist/index.js', import.meta.url).href
    const text = `import { fileEngine } from ${JSON.stringify(engine)}\n${program}`
    const child = spawn(process.execPath, ['--input-type=module', '--eval', text], { stdio: ['ignore', 'inherit', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += String(chunk)
    })
    return { how: await new Promise((resolve) => void child.on('close', (...how) => resolve(how))), said }
  }

  test('a process exits though a call of the system does not return to the thread', async () => {
    const path = join(await folderOf(), 'store.db')
    spawnSync('mkfifo', [`${path}-wal`])
    // What reads a pipe waits for what is written; there can be a writer when there is a reader.
    const report = `${path}.report.json`
    const { how, said } = await endOf(`
      import { constants, openSync } from 'node:fs'
      import { createServer } from 'node:http'
      import { attachLifecycle } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)}
      fileEngine({ path: ${JSON.stringify(path)} }).open({ signal: new AbortController().signal, onCondition: () => {} })
      // A life that begins behind the storage has its report all the same.
      void attachLifecycle(createServer(), { reportFile: ${JSON.stringify(report)} }).run()
      const exit = () => {
        try {
          openSync(${JSON.stringify(`${path}-wal`)}, constants.O_WRONLY | constants.O_NONBLOCK)
        } catch {
          return setTimeout(exit, 10)
        }
        process.exit(5)
      }
      exit()`)
    expect(how).toEqual([null, 'SIGKILL'])
    expect(said).toContain('the disk of the file storage does not answer')
    expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ exitCode: expect.any(Number) as number })
  })

  test('a process exits as it will while the thread begins, or looks at many rows', async () => {
    const path = join(await folderOf(), 'store.db')
    const store = await openFile({ path })
    for (let step = 0; step < 50; step++)
      await Promise.all(Array.from({ length: 1000 }, (_, at) => store.put({ key: `/${step}/${at}`, value: Buffer.alloc(2000) })))
    await store.close()
    for (const ms of [0, 50, 200])
      expect(
        await endOf(`
          fileEngine({ path: ${JSON.stringify(path)} }).open({ signal: new AbortController().signal, onCondition: () => {} })
          setTimeout(() => process.exit(5), ${ms})`),
      ).toEqual({ how: [5, null], said: '' })
  })

  describe('a disk that hangs', () => {
    const value = new Uint8Array(1)

    async function gated() {
      const gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
      watchThreads(gate)
      const clock = new VirtualClock()
      const conditions: StoreCondition[] = []
      const onCondition = (condition: StoreCondition): void => void conditions.push(condition)
      const engine = fileEngine({ path: join(await folderOf(), 'store.db'), compactionInterval: '1h' }, clock)
      const store = await engine.open({ signal: new AbortController().signal, onCondition })
      const hang = (isHanging: boolean): void => {
        Atomics.store(gate, 0, isHanging ? 1 : 0)
        Atomics.notify(gate, 0)
      }
      onTestFinished(async () => {
        hang(false)
        await store.close()
      })
      return { store, clock, conditions, hang }
    }

    test('is said after five seconds, and written to again when it answers', async () => {
      const { store, clock, conditions, hang } = await gated()
      await store.put({ key: '/before', value })
      hang(true)
      const hanging = store.put({ key: '/hangs', value })
      await clock.advance(4_900)
      expect(conditions).toEqual([])
      await clock.advance(1_100)
      const message = expect.stringContaining('store.db has not answered for 5s')
      expect(conditions).toMatchObject([{ is: 'degraded', error: { message } }])
      await expect(store.put({ key: '/refused', value })).rejects.toMatchObject({ reason: 'unavailable', message })
      await clock.advance(20_000)
      expect(conditions).toHaveLength(1)
      hang(false)
      expect(await hanging).toEqual({ isDone: true, revision: 3 })
      await expect
        .poll(async () => {
          await clock.advance(100)
          return conditions.at(-1)?.is
        })
        .toBe('ready')
      expect(await store.put({ key: '/after', value })).toEqual({ isDone: true, revision: 4 })
    })

    test('is none that answers slowly, or that nothing is asked of', async () => {
      const { store, clock, conditions, hang } = await gated()
      for (let at = 0; at < 5; at++) {
        hang(true)
        const slow = store.put({ key: '/slow', value })
        await clock.advance(3_900)
        hang(false)
        expect(await slow).toMatchObject({ isDone: true })
      }
      await clock.advance(60_000)
      expect(conditions).toEqual([])
    })
  })

  describe('a disk that is full', () => {
    test('is said, keeps nothing that was refused, and is written to again without a restart', async () => {
      const folder = await folderOf()
      const inside = `mount -t tmpfs -o size=3m tmpfs ${folder} && exec "$@"`
      const life = new StoreProcess({ path: join(folder, 'store.db') }, ['unshare', '-rm', 'sh', '-c', inside, 'sh'])
      await life.hears((said) => 'opened' in said)
      const { revision } = await life.put('/before', 1_000)
      const filler = join(folder, 'filler')
      life.tell('fill', { file: filler })
      await life.hears(({ full }) => full === true)
      let refused: Said | undefined
      for (let at = 0; refused === undefined && at < 100; at++) {
        const answer = await life.put(`/large/${at}`, 500_000)
        if ('failed' in answer) refused = answer
      }
      expect(refused).toMatchObject({ failed: 'unavailable', isThere: false })
      expect(refused?.['message']).toContain('the disk is full')
      await life.hears(({ condition }) => condition === 'degraded')
      // It reads on, and the revision of what was refused is nobody's.
      life.tell('range')
      const { range } = (await life.hears((said) => 'range' in said)) as { range: readonly string[] }
      expect(range[0]).toBe(`/before@${revision}`)
      expect(await life.put('/meanwhile', 10)).toMatchObject({ failed: 'unavailable', isThere: false })
      life.tell('empty', { file: filler })
      await life.hears(({ condition }) => condition === 'ready')
      expect(await life.put('/after', 10)).toMatchObject({ isDone: true, revision: Number(refused?.['now']) + 1, isThere: true })
    })

    test('a write that the system refuses is one that no read and no watch has seen', async () => {
      const path = join(await folderOf(), 'store.db')
      const life = new StoreProcess({ path })
      await life.hears((said) => 'opened' in said)
      life.tell('watch', { after: 1 })
      life.tell('writers', { count: 3 })
      await life.hears((said) => Number(said['acknowledged']) > 20)
      // From now on no file can grow: its writes fail in the middle.
      const limit = statSync(`${path}-wal`).size
      spawn('prlimit', ['--pid', String(life.child.pid), `--fsize=${limit}:`])
      await life.hears(({ condition }) => condition === 'degraded')
      const acknowledged = Math.max(...life.said.map((said) => Number(said['acknowledged'] ?? 0)))
      const answer = await life.put('/w/refused', 10)
      expect(answer).toMatchObject({ failed: 'unavailable', isThere: false, now: acknowledged })
      expect(Math.max(...life.said.map((said) => Number(said['seen'] ?? 0)))).toBe(acknowledged)
      await life.kill()
      const store = await openFile({ path })
      expect(await store.revision()).toBe(acknowledged)
    })
  })

  describe('a file that is open', () => {
    const bytes = Buffer.from('x')

    /** A store with one key whose file can be tampered with, and what it has said of itself. */
    async function opened(compactionInterval = 3_600_000) {
      const folder = join(await folderOf(), 'inside')
      mkdirSync(folder)
      const path = join(folder, 'store.db')
      const conditions: StoreCondition[] = []
      const store = await openFile({ path, compactionInterval }, (condition) => void conditions.push(condition))
      await store.put({ key: '/before', value: bytes })
      return { folder, path, store, conditions }
    }

    const saidOf = (conditions: readonly StoreCondition[]) =>
      conditions.map((each) => (each.is === 'ready' ? '' : each.error.message)).join('\n')

    const refusedWrite = (store: KeyValueStore) =>
      store.put({ key: '/refused', value: bytes }).then(
        () => undefined,
        (error: StoreError) => error,
      )

    const CASES: readonly (readonly [what: string, said: string, away: (path: string) => () => void])[] = [
      [
        'and removed',
        'store.db was removed',
        (path) => {
          renameSync(path, `${path}.aside`)
          return () => renameSync(`${path}.aside`, path)
        },
      ],
      [
        'and replaced by its own copy',
        'store.db was replaced',
        (path) => {
          copyFileSync(path, `${path}.copy`)
          renameSync(path, `${path}.aside`)
          renameSync(`${path}.copy`, path)
          return () => renameSync(`${path}.aside`, path)
        },
      ],
      [
        'without the log that it had',
        'the log of',
        (path) => {
          renameSync(`${path}-wal`, `${path}.aside`)
          return () => renameSync(`${path}.aside`, `${path}-wal`)
        },
      ],
      [
        'in a folder that gets another name',
        'store.db was removed',
        (path) => {
          renameSync(dirname(path), `${dirname(path)}.aside`)
          return () => renameSync(`${dirname(path)}.aside`, dirname(path))
        },
      ],
    ]

    test.for(CASES)('%s is read and not written, until it is back', async ([, said, away]) => {
      const { path, store, conditions } = await opened()
      const back = away(path)
      const refused = await refusedWrite(store)
      expect(refused).toMatchObject({ reason: 'unavailable', message: expect.stringContaining(said) })
      expect(refused?.message).toMatch(/would be lost.*Put the file back.*end the server/s)
      expect(conditions.map(({ is }) => is)).toEqual(['degraded'])
      expect((await store.get('/before')).entry?.value).toEqual(new Uint8Array(bytes))
      back()
      await expect.poll(() => conditions.at(-1)?.is).toBe('ready')
      expect(await store.put({ key: '/after', value: bytes })).toMatchObject({ isDone: true, revision: 3 })
      await store.close()
      const { entries } = await (await openFile({ path })).range({ from: '' })
      expect(entries.map(({ key }) => key)).toEqual(['/after', '/before'])
    })

    test.for<readonly [string, (path: string, other: string) => void]>([
      ['emptied', (path) => truncateSync(path)],
      ['written over by another file', (path, other) => copyFileSync(other, path)],
    ])('and %s is neither written nor read, whatever size it gets later', async ([, over]) => {
      const { path, store, conditions } = await opened()
      const other = join(await folderOf(), 'other.db')
      const filled = await openFile({ path: other })
      for (let at = 0; at < 20; at++) await filled.put({ key: '/before', value: new Uint8Array(10_000) })
      await filled.close()
      const own = readFileSync(path)
      over(path, other)
      const refused = await refusedWrite(store)
      expect(refused?.message).toMatch(
        /store\.db was written over: it has \d+ bytes, and had \d+, .*End the server, then put a whole file/s,
      )
      expect(conditions).toMatchObject([{ is: 'degraded', error: { message: refused?.message } }])
      writeFileSync(path, own)
      for (const asked of [store.get('/before'), store.range({ from: '' }), store.range({ from: '', at: 2 })])
        await expect(asked).rejects.toMatchObject({ reason: 'damaged', message: refused?.message })
      expect(await refusedWrite(store)).toMatchObject({ reason: 'unavailable', message: expect.stringContaining(String(refused?.message)) })
      expect(conditions).toHaveLength(1)
    })

    test('and written over is missed though nothing is written', async () => {
      const { path, conditions } = await opened(10)
      truncateSync(path, statSync(path).size + 1)
      await expect.poll(() => conditions.at(-1)?.is).toBe('degraded')
      expect(saidOf(conditions)).toContain('was written over')
    })

    test('without its log has all of it when its process is killed', async () => {
      const path = join(await folderOf(), 'store.db')
      const life = new StoreProcess({ path })
      await life.hears((said) => 'opened' in said)
      await life.put('/acknowledged', 10)
      rmSync(`${path}-wal`)
      expect(await life.put('/refused', 10)).toMatchObject({ failed: 'unavailable' })
      await life.kill()
      const { entries } = await (await openFile({ path })).range({ from: '' })
      expect(entries.map(({ key }) => key)).toEqual(['/acknowledged'])
    })

    test('and removed is missed though nothing is written, and none is made instead of it', async () => {
      const { path, store, conditions } = await opened(10)
      rmSync(path)
      await expect.poll(() => conditions.at(-1)?.is).toBe('degraded')
      await store.close()
      expect(existsSync(path)).toBe(false)
    })

    test('and whose log is removed is not begun anew by a thread that is', async () => {
      const threads = watchThreads()
      const { path, store, conditions } = await opened()
      renameSync(path, `${path}.aside`)
      renameSync(`${path}-wal`, `${path}.aside-wal`)
      await threads[0]?.terminate()
      // All that was written is in the log.
      renameSync(`${path}.aside`, path)
      await expect.poll(() => saidOf(conditions)).toContain('it is not begun anew')
      renameSync(`${path}.aside-wal`, `${path}-wal`)
      await expect.poll(() => conditions.at(-1)?.is).toBe('ready')
      expect((await store.get('/before')).entry?.value).toEqual(new Uint8Array(bytes))
    })

    test('and removed is not begun anew by a thread that is', async () => {
      const threads = watchThreads()
      const { path, store, conditions } = await opened()
      renameSync(path, `${path}.aside`)
      renameSync(`${path}-wal`, `${path}.aside-wal`)
      await threads[0]?.terminate()
      await expect.poll(() => saidOf(conditions)).toContain('it is not opened again')
      expect([existsSync(path), conditions.at(-1)?.is]).toEqual([false, 'lost'])
      renameSync(`${path}.aside-wal`, `${path}-wal`)
      renameSync(`${path}.aside`, path)
      await expect.poll(() => conditions.at(-1)?.is).toBe('ready')
      expect(await store.put({ key: '/after', value: bytes })).toMatchObject({ isDone: true, revision: 3 })
    })
  })

  describe('pages that are not what was written', () => {
    async function written(folder: string, keys: number, isKilled: boolean): Promise<string> {
      const path = join(folder, 'store.db')
      const life = new StoreProcess({ path })
      await life.hears((said) => 'opened' in said)
      for (let at = 0; at < keys; at += 50) {
        for (let of = at; of < at + 50; of++) life.tell('put', { key: `/k/${of}`, size: 700 })
        await life.hears(({ put }) => put === `/k/${at + 49}`)
      }
      if (isKilled) await life.kill()
      else {
        life.tell('close')
        await life.hears(({ closed }) => closed === true)
      }
      return path
    }

    /** What a file holds, as its clients see it, and what is known of its compaction. */
    const everything = async (path: string): Promise<string> => {
      const { rows, keys, revision, compacted } = await verifyFile(path)
      const store = await openFile({ path })
      const { entries } = await store.range(withPrefix('/k/'))
      await store.close()
      const values = entries.map(({ key, value, modRevision }) => `${key}@${modRevision}=${Buffer.from(value).toString()}`)
      return [`${rows} rows, ${keys} keys, revision ${revision}, compacted ${compacted}`, ...values].join('\n')
    }

    type Bits = readonly (readonly [at: number, bit: number])[]

    const eachBit = (from: number, to: number): Bits =>
      Array.from({ length: (to - from) * 8 }, (_, index) => [from + (index >> 3), index & 7] as const)

    /** Flips bits of a file or of its log, each in a copy; tells how many were refused. */
    async function flips(path: string, bits: Bits, isOfLog = false): Promise<number> {
      const copy = `${path}.copy`
      const parts = (isOfLog ? ['-wal', ''] : ['']).map((part) => ({ file: `${copy}${part}`, bytes: readFileSync(`${path}${part}`) }))
      const right = await everything(path)
      let refused = 0
      for (const [at, bit] of bits) {
        for (const { file, bytes } of parts) writeFileSync(file, bytes)
        const flipped = Buffer.from(parts[0]?.bytes as Buffer)
        flipped[at] = (flipped[at] as number) ^ (1 << bit)
        writeFileSync(parts[0]?.file as string, flipped)
        const where = `bit ${bit} of byte ${at}`
        const found = await everything(copy).catch((error: unknown) => error as StoreError)
        if (typeof found === 'string') expect(found === right, `${where} was not found, and the file says something else`).toBe(true)
        else {
          const { reason, message, details } = found
          expect([reason, message, typeof details['place']], where).toEqual(['damaged', expect.stringContaining(copy), 'string'])
          refused++
        }
        await rm(`${copy}-wal`, { force: true })
      }
      return refused
    }

    test('are refused with their place, or change nothing', async () => {
      const path = await written(await folderOf(), 300, false)
      const integer = integers()
      const { size } = statSync(path)
      const bits = Array.from({ length: 40 }, () => [integer(0, size - 1), integer(0, 7)] as const)
      expect(await flips(path, bits)).toBeGreaterThan(10)
    })

    // A bit there makes of bytes a text, of a number another, and of a name one that is not known.
    test.for([
      ['the head of a row', /.{12}\/k\/40.xxx/s],
      ['the state of compaction', /.{4}compacted../s],
    ] as const)('are refused in each bit of %s', async ([, pattern]) => {
      const path = await written(await folderOf(), 50, false)
      const { index, 0: text } = pattern.exec(readFileSync(path, 'latin1')) as RegExpExecArray
      const bits = eachBit(index, index + text.length)
      expect(await flips(path, bits)).toBeGreaterThan(bits.length / 2)
    })

    test('are refused in the head of the file', async () => {
      const path = await written(await folderOf(), 50, false)
      // The size of its pages, its versions, that of its tables, and the head of its first page.
      const bits = [...eachBit(16, 20), ...eachBit(44, 48), ...eachBit(100, 108)]
      expect(await flips(path, bits)).toBeGreaterThan(bits.length / 2)
    })

    test('are refused in the head of the log', async () => {
      const path = await written(await folderOf(), 50, true)
      const bits = [...eachBit(0, 4), ...Array.from({ length: 28 }, (_, index) => [index + 4, index & 7] as const)]
      expect(await flips(path, bits, true)).toBe(bits.length)
    })

    test('delete nothing that is not forgotten, in a file that is not checked', async () => {
      const folder = await folderOf()
      const first = await openFile({ path: join(folder, 'store.db'), compactionInterval: 3_600_000 })
      for (const value of ['old', 'new']) for (let of = 10; of < 30; of++) await first.put({ key: `/k/${of}`, value: Buffer.from(value) })
      await first.close()
      const bytes = readFileSync(join(folder, 'store.db'))
      const { index, 0: text } = /.{7}\/k\/20..new/s.exec(bytes.toString('latin1')) as RegExpExecArray
      let refused = 0
      for (const [at, bit] of eachBit(index, index + text.length)) {
        const path = join(folder, `${at}-${bit}.db`)
        const flipped = Buffer.from(bytes)
        flipped[at] = (flipped[at] as number) ^ (1 << bit)
        writeFileSync(path, flipped)
        const store = await openFile({ path, compactionInterval: 3_600_000, verify: false })
        const result = await store.compact(await store.revision()).catch((error: unknown) => error as StoreError)
        if (result instanceof Error) {
          expect(result).toMatchObject({ reason: 'damaged' })
          refused++
        }
        for (let of = 10; of < 30; of++) {
          if (of === 20) continue
          const said = await store.get(`/k/${of}`).then(
            ({ entry }) => entry && Buffer.from(entry.value).toString(),
            ({ reason }: StoreError) => reason,
          )
          expect(['new', 'damaged'], `/k/${of} after a flip of bit ${bit} of byte ${at}`).toContain(said)
        }
        await store.close()
      }
      expect(refused).toBeGreaterThan(text.length * 4)
    })

    test('of the log are refused, when what came behind them had been acknowledged', async () => {
      const folder = await folderOf()
      const path = await written(folder, 300, true)
      const wal = `${path}-wal`
      const bytes = readFileSync(wal)
      const file = openSync(wal, 'r+')
      // In the first pages, which many transactions follow.
      writeSync(file, Buffer.from([(bytes[5_000] as number) ^ 1]), 0, 1, 5_000)
      const error = await refusalOf({ path })
      expect(error).toMatchObject({ reason: 'damaged', details: { place: `page 2 of ${wal}` } })
      // Its end is what a crash may leave: as long as nothing is behind it.
      writeSync(file, Buffer.from([bytes[5_000] as number]), 0, 1, 5_000)
      writeSync(file, Buffer.from([(bytes.at(-1) as number) ^ 1]), 0, 1, bytes.length - 1)
      expect(await refusalOf({ path })).toBeUndefined()
    })

    /** Flips the lowest bit of a byte of the log. */
    function flip(wal: string, at: number): void {
      const file = openSync(wal, 'r+')
      writeSync(file, Buffer.from([(readFileSync(wal)[at] as number) ^ 1]), 0, 1, at)
      closeSync(file)
    }

    test.for([
      ['the head', 12],
      ['page 2', 5_000],
    ] as const)('of the log are not looked for while another process writes it: %s', async ([place, at]) => {
      const path = join(await folderOf(), 'store.db')
      const wal = `${path}-wal`
      const life = new StoreProcess({ path })
      await life.hears((said) => 'opened' in said)
      for (let of = 0; of < 30; of++) await life.put(`/k/${of}`, 700)
      // As a log may look that is read while it is written.
      flip(wal, at)
      const isInUse = { reason: 'unavailable', message: expect.stringContaining('is in use by another process') }
      expect(await refusalOf({ path })).toMatchObject(isInUse)
      flip(wal, at)
      expect(await refusalOf({ path })).toMatchObject(isInUse)
      flip(wal, at)
      await life.kill()
      // Nothing of it is removed by that, however often it is tried.
      const bytes = readFileSync(wal)
      for (let time = 0; time < 2; time++)
        expect(await refusalOf({ path })).toMatchObject({ reason: 'damaged', details: { place: `${place} of ${wal}` } })
      expect(readFileSync(wal).equals(bytes)).toBe(true)
      flip(wal, at)
      expect((await (await openFile({ path })).range(withPrefix('/k/'))).count).toBe(30)
    })

    test('of the log are refused behind a link to the file, too', async () => {
      const path = await written(await folderOf(), 50, true)
      const link = join(await folderOf(), 'link.db')
      symlinkSync(path, link)
      flip(`${path}-wal`, 5_000)
      expect(await refusalOf({ path: link })).toMatchObject({ reason: 'damaged', details: { place: `page 2 of ${path}-wal` } })
    })

    test.for(['not there', 'empty'])('a log whose file is %s is kept until the file is back', async (state) => {
      const path = await written(await folderOf(), 50, true)
      const bytes = readFileSync(`${path}-wal`)
      renameSync(path, `${path}.moved`)
      if (state === 'empty') writeFileSync(path, '')
      for (let time = 0; time < 2; time++)
        expect(await refusalOf({ path })).toMatchObject({
          reason: 'unavailable',
          message: expect.stringContaining('Put the file back beside its log'),
        })
      expect(readFileSync(`${path}-wal`).equals(bytes)).toBe(true)
      renameSync(`${path}.moved`, path)
      expect((await (await openFile({ path })).range(withPrefix('/k/'))).count).toBe(50)
    })

    test('a log that cannot be read is not taken for none', async () => {
      const path = await written(await folderOf(), 50, true)
      renameSync(`${path}-wal`, `${path}-wal.aside`)
      mkdirSync(`${path}-wal`)
      expect(await refusalOf({ path })).toMatchObject({ reason: 'unavailable', message: expect.stringContaining('EISDIR') })
    })

    test('a file of something else is left as it is', async () => {
      const path = join(await folderOf(), 'notes.txt')
      writeFileSync(path, 'not a database, though it is long enough to be one'.repeat(100))
      const before = readFileSync(path)
      expect(await refusalOf({ path })).toMatchObject({ reason: 'damaged' })
      expect(readFileSync(path).equals(before)).toBe(true)
    })
  })

  describe('quiesce-apiserver storage', () => {
    const CLI = fileURLToPath(new URL('../../packages/apiserver/dist/cli.js', import.meta.url))
    const command = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'storage', ...args], { encoding: 'utf8' })
      return { status, stdout, stderr }
    }

    test('verifies, compacts, exports and imports a file', async () => {
      const folder = await folderOf()
      const [path, copy, exported] = [join(folder, 'store.db'), join(folder, 'copy.db'), join(folder, 'store.json')]
      const store = await openFile({ path })
      await store.put({ key: '/a', value: Buffer.from('{"a":"ä"}') })
      await store.put({ key: '/a', value: Buffer.from('{"a":"b\u2028"}') })
      await store.put({ key: '/b', value: Uint8Array.of(0, 255) })
      expect(command('verify', path)).toMatchObject({ status: 1, stderr: expect.stringContaining('is in use') })
      await store.close()
      expect(command('verify', path)).toEqual({
        status: 0,
        stdout: `${path} is whole: 2 keys at revision 4, 3 revisions of them since 1\n`,
        stderr: '',
      })
      expect(command('compact', path).status).toBe(0)
      const { stdout } = command('export', path)
      writeFileSync(exported, stdout)
      expect(command('import', copy, exported)).toMatchObject({ status: 0, stdout: `${copy} has 2 keys, at revisions behind 4\n` })
      const again = await openFile({ path: copy })
      const { entries } = await again.range({ from: '' })
      expect(entries.map(({ key, value, modRevision }) => [key, [...value], modRevision])).toEqual([
        ['/a', [...Buffer.from('{"a":"b\u2028"}')], 5],
        ['/b', [0, 255], 6],
      ])
      expect(command('import', copy, exported)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('a file that is not there yet'),
      })
      // None of these is begun with, as a server would take it for the whole.
      const lines = stdout.split('\n')
      for (const [wrong, said] of [
        [lines.slice(0, 2), 'all 2 keys'],
        [[lines[0], '{"key":"/a"}', lines[2]], 'line 2'],
        [[lines[0], 'null', lines[2]], 'line 2'],
        [[lines[0], lines[1], '{"key":"/b","te'], 'line 3'],
        [[lines[0]?.replace('4', '9007199254740991'), ...lines.slice(1, 3)], 'EXPORTED'],
      ] as const) {
        writeFileSync(exported, wrong.join('\n'))
        expect(command('import', join(folder, 'wrong.db'), exported)).toMatchObject({ status: 2, stderr: expect.stringContaining(said) })
        expect(readdirSync(folder).filter((name) => name.startsWith('wrong'))).toEqual([])
      }
      expect(command('import', join(folder, 'wrong.db'), folder)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('can be read'),
      })
      writeFileSync(join(folder, 'wrong.db-wal'), 'of another file')
      writeFileSync(exported, stdout)
      expect(command('import', join(folder, 'wrong.db'), exported)).toMatchObject({ status: 2, stderr: expect.stringContaining('-wal') })
      expect(command('verify', join(folder, 'none.db')).status).toBe(2)
      expect(command('mend', path)).toMatchObject({ status: 2, stderr: expect.stringContaining('verify, compact, export, import') })
    })
  })

  describe('what is forgotten', () => {
    test('gives its room back, and writes come in between', async () => {
      const path = join(await folderOf(), 'store.db')
      const store = await openFile({ path, compactionInterval: 3_600_000 })
      // As leases are written: one key again and again.
      const value = new Uint8Array(1_000)
      for (let round = 0; round < 100; round++)
        await Promise.all(Array.from({ length: 100 }, (_, at) => store.put({ key: `/lease/${at % 10}`, value })))
      const large = statSync(path).size + statSync(`${path}-wal`).size
      expect(statSync(`${path}-wal`).size).toBeLessThan(16 * 1024 * 1024)
      const order: string[] = []
      const compacted = store.compact(await store.revision()).then(() => order.push('compacted'))
      for (let at = 0; at < 5; at++) await store.put({ key: '/between', value }).then(() => order.push('written'))
      await compacted
      expect(order.slice(0, 5)).toEqual(['written', 'written', 'written', 'written', 'written'])
      for (let round = 0; round < 20; round++) await store.compact(await store.revision())
      await store.close()
      expect(large).toBeGreaterThan(10 * 1024 * 1024)
      expect(statSync(path).size).toBeLessThan(500 * 1024)
    })

    test('is forgotten by itself, and its newest revision is not given again', async () => {
      const path = join(await folderOf(), 'store.db')
      const store = await openFile({ path, compactionInterval: 10, history: 0 })
      const first = await store.put({ key: '/a', value: new Uint8Array(1) })
      await store.put({ key: '/b', value: new Uint8Array(1) })
      const last = await store.delete({ key: '/b' })
      const reasonAt = (revision: number) =>
        store.get('/a', revision).then(
          () => 'there',
          ({ reason }: StoreError) => reason,
        )
      await expect.poll(() => reasonAt((last.isDone && last.revision) || 0)).toBe('there')
      await expect.poll(() => reasonAt((first.isDone && first.revision) || 0)).toBe('compacted')
      await store.close()
      const again = await openFile({ path })
      expect(await again.revision()).toBe(last.isDone && last.revision)
      expect((await again.get('/a')).entry?.modRevision).toBe(first.isDone && first.revision)
    })
  })
}
