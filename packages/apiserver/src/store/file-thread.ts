import type { Answers, BytesPart, ChangeRow, Numbered, Reply, Request, StoredRow, ThreadRefusal, WriteAnswer } from './file-messages.ts'
import type { FilePlace, filePlace } from './file-place.ts'
import type { logDamage } from './log-damage.ts'
import type { sqliteRefusal } from './sqlite-refusal.ts'

type Value = string | number | null | Uint8Array
interface Statement {
  run(...values: readonly Value[]): unknown
  get(...values: readonly Value[]): Record<string, Value> | undefined
  all(...values: readonly Value[]): Record<string, Value>[]
  iterate(...values: readonly Value[]): Iterable<Record<string, Value>>
}
interface Database {
  exec(text: string): void
  prepare(text: string): Statement
  close(): void
}
/** The part of node's modules that the thread needs, of which its types know less. */
interface Modules {
  readonly 'node:worker_threads': {
    readonly workerData: ThreadShared
    readonly parentPort: {
      on(event: 'message', hear: (message: Numbered) => void): void
      postMessage(message: Reply, transfer: readonly object[]): void
    }
  }
  readonly 'node:sqlite': { readonly DatabaseSync: new (path: string, options?: { readonly readOnly: boolean }) => Database }
  readonly 'node:zlib': { crc32(data: string | Uint8Array, before?: number): number }
  readonly 'node:fs': typeof import('node:fs')
}
/** What the thread and its process see of each other without messages; of a flag, 1 is yes. */
export interface ThreadShared {
  /** The thread is in an operation. */
  readonly isBusy: Int32Array
  /** How many operations the thread has done. */
  readonly done: Int32Array
  /** The process exits: no further operation begins, and one that goes from row to row ends. */
  readonly isLeaving: Int32Array
}
/** Functions that the thread needs, each the text of a file of its own. */
export interface Parts {
  readonly filePlace: typeof filePlace
  readonly logDamage: typeof logDamage
  readonly sqliteRefusal: typeof sqliteRefusal
}

/**
 * The thread of the file engine, which alone touches the file: SQLite takes as long as the disk
 * does, and no event loop waits for it. Each message is answered when what it asks for is durable.
 *
 * The text of this function is the thread's program, so that it is found wherever a bundler puts
 * it: it uses nothing from outside of itself, and what else it needs is given to it.
 *
 * A row is a revision: the value of its key from then on. Rows have a checksum, as SQLite has none
 * of its own, and so has the state of compaction. What compaction deletes is found by the rows
 * behind what it has deleted before, so that it costs as much as the changes since then, however
 * much is there.
 */
export function fileThread(load: <M extends keyof Modules>(name: M) => Modules[M], { filePlace, logDamage, sqliteRefusal }: Parts): void {
  const {
    parentPort,
    workerData: { isBusy, done, isLeaving },
  } = load('node:worker_threads')
  const { DatabaseSync } = load('node:sqlite')
  const { crc32 } = load('node:zlib')
  const fs = load('node:fs')

  /** What is in the head of a file that is one of ours, and the form of its tables. */
  const APPLICATION = 0x51_53_43_45
  const FORM = 2
  /** Bytes of a log before its first page. */
  const LOG_HEAD = 32
  /** SQLite's code for what another process has. */
  const BUSY = 5
  /** Pages that are given back to the file system at a time. */
  const VACUUM_PAGES = 256

  class Refused extends Error {
    readonly refusal: ThreadRefusal
    constructor(reason: ThreadRefusal['reason'], message: string, details: Record<string, unknown> = {}) {
      super(message)
      this.refusal = { reason, message, details }
    }
  }

  let db: Database | undefined
  let path = ''
  let place: FilePlace
  let revision = 0
  let compacted = 0
  let swept = 0
  /** Why nothing of the file can be trusted any more. */
  let overwritten: Refused | undefined
  let statements: ReturnType<typeof prepare>

  const prepare = (database: Database) => ({
    latest: database.prepare('SELECT * FROM revisions WHERE key = ? AND revision <= ? ORDER BY revision DESC LIMIT 1'),
    // Node 22 takes bytes of length 0 for NULL, which is a deletion: so that is said beside them.
    insert: database.prepare(
      'INSERT INTO revisions (revision, key, created, previous, value, sum) VALUES (?, ?, ?, ?, CASE WHEN ? THEN coalesce(?, zeroblob(0)) END, ?)',
    ),
    // Kept, as an iterator of Node 22.13 does not keep its statement from being collected.
    everything: database.prepare('SELECT * FROM revisions'),
    byRevision: database.prepare('SELECT * FROM revisions WHERE revision = ?'),
    range: database.prepare(`SELECT r.* FROM
      (SELECT key, max(revision) AS newest, deleted FROM revisions WHERE key >= ? AND key < ? AND revision <= ? GROUP BY key) AS n
      JOIN revisions AS r ON r.revision = n.newest WHERE NOT n.deleted ORDER BY n.key LIMIT ?`),
    count: database.prepare(`SELECT count(*) AS count FROM
      (SELECT max(revision), deleted FROM revisions WHERE key >= ? AND key < ? AND revision <= ? GROUP BY key) WHERE NOT deleted`),
    changes: database.prepare('SELECT * FROM revisions WHERE revision > ? AND key >= ? AND key < ? ORDER BY revision LIMIT ?'),
    toSweep: database.prepare('SELECT * FROM revisions WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?'),
    forget: database.prepare('DELETE FROM revisions WHERE revision = ?'),
    setMeta: database.prepare('INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value'),
    getMeta: database.prepare('SELECT value FROM meta WHERE name = ?'),
  })

  const opened = (): Database => {
    if (db === undefined) throw new Refused('unavailable', `${path} is not open`)
    return db
  }

  const sumOf = (key: string, at: number, created: number, previous: number, value: Uint8Array | undefined): number => {
    const head = crc32(`${at} ${created} ${previous} ${value === undefined ? '-' : value.length} ${key}`)
    return value === undefined ? head : crc32(value, head)
  }

  /** Values of an answer, each at its place in one array. */
  const packer = () => {
    const values: Uint8Array[] = []
    let at = 0
    const row = (given: Record<string, Value> | undefined): StoredRow | undefined => {
      if (given === undefined) return undefined
      const value = checked(given)
      if (value === undefined) return undefined
      values.push(value)
      const part: BytesPart = { at, length: value.length }
      at += value.length
      return { key: given['key'] as string, created: given['created'] as number, revision: given['revision'] as number, ...part }
    }
    const bytes = (): Uint8Array => {
      const all = new Uint8Array(at)
      let place = 0
      for (const value of values) {
        all.set(value, place)
        place += value.length
      }
      return all
    }
    return { row, bytes }
  }

  /** The value of a row, undefined of a deletion. */
  function checked(row: Record<string, Value>): Uint8Array | undefined {
    refuseToStay()
    const { key, revision: at, created, previous } = row as { key: string; revision: number; created: number; previous: number }
    const value = row['value'] === null ? undefined : row['value']
    // One bit of a row says whether SQLite gives its value as bytes or as a text of the same sum.
    if ((value === undefined || value instanceof Uint8Array) && sumOf(key, at, created, previous, value) === row['sum']) return value
    throw new Refused('damaged', `${path} is damaged: revision ${at}, of key ${JSON.stringify(key)}, has changed since it was written`, {
      place: `revision ${at}`,
    })
  }

  const metaOf = (name: string): number => (statements.getMeta.get(name)?.['value'] as number | undefined) ?? 0
  const sumOfMeta = (): number => crc32(`${compacted} ${swept}`)
  /** A part of a transaction. */
  function keepMeta(): void {
    statements.setMeta.run('compacted', compacted)
    statements.setMeta.run('swept', swept)
    statements.setMeta.run('sum', sumOfMeta())
  }

  const readable = (at: number): number => {
    checkNotOverwritten()
    if (at > revision)
      throw new Refused('future', `revision ${at} does not exist yet: the newest is ${revision}`, { asked: at, current: revision })
    if (at < compacted) throw compactedAt(at)
    return at
  }
  const compactedAt = (asked: number): Refused =>
    new Refused('compacted', `revision ${asked} has been removed: revisions before ${compacted} are gone`, { asked, compacted })

  const moved = (what: string): Refused =>
    new Refused(
      'unavailable',
      `${what}. Put the file back with its log (${place.log}), and this server goes on with it; or end the server, and start it on what is there then`,
      { isMoved: true },
    )

  /**
   * Refuses what would be written to a file that has no name any more, or to the log that another
   * process has by now.
   */
  function checkInPlace(): void {
    checkNotOverwritten()
    const away = place.moved()
    if (away === undefined) return
    if (away.isOf === 'bytes') {
      // It stays so, whatever size the file gets later.
      overwritten = new Refused(
        'damaged',
        `${away.what}, while this server had it open: nothing is written or read any more, as it may be of another file. End the server, then put a whole file there, remove ${place.log}, and start the server again`,
        { place: 'the file' },
      )
      throw overwritten
    }
    try {
      // What is in a log that has no name is saved by writing it to the file.
      if (away.isOf === 'log') writingFile('PRAGMA wal_checkpoint(PASSIVE)')
    } catch {
      // A transaction is under way: the next one that comes here does it.
    }
    throw moved(
      `${away.what} while this server had it open: what is written now would be lost, so nothing is; what was there is still read`,
    )
  }

  function checkNotOverwritten(): void {
    if (overwritten !== undefined) throw overwritten
  }

  /** Runs what may have SQLite move pages from the log to the file, or give back its room. */
  function writingFile(text: string): void {
    try {
      opened().exec(text)
    } finally {
      place.noteSize()
    }
  }

  /**
   * Runs work as a transaction: all of it is durable when this returns, and none of it is there
   * when it throws.
   */
  function transaction<T>(work: () => T): T {
    const database = opened()
    checkInPlace()
    const was = { revision, compacted, swept }
    database.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      // As late as it can be undone: no write is answered that began when the file was gone.
      checkInPlace()
      writingFile('COMMIT')
      return result
    } catch (thrown) {
      ;({ revision, compacted, swept } = was)
      try {
        database.exec('ROLLBACK')
      } catch {
        // SQLite has rolled it back by itself.
      }
      throw thrown
    }
  }

  /** Above every key. */
  const END = '\u{10ffff}'

  const operations: { readonly [Op in Request['op']]: (request: Extract<Request, { op: Op }>) => Answers[Op] } = {
    open: (request) => {
      path = request.path
      place = filePlace(fs, path)
      const before = place.file()
      const isAgain = request.file !== undefined
      // With another file, or an empty one, all that was acknowledged would be gone without a word.
      if (isAgain && before !== request.file)
        throw moved(`${path} was removed or replaced while this server had it open: it is not opened again`)
      checkLog()
      const database = new DatabaseSync(path)
      db = database
      let file: string | undefined
      try {
        // The lock is the operating system's: it goes with the process, however that ends.
        database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL')
        const { application_id: application } = database.prepare('PRAGMA application_id').get() as { application_id: number }
        const { count } = database.prepare('SELECT count(*) AS count FROM sqlite_schema').get() as { count: number }
        if (application !== APPLICATION && (application !== 0 || count > 0))
          throw new Refused('damaged', `${path} is not a storage file of quiesce; it was not changed`, { place: 'the head of the file' })
        database.exec(
          'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 500; PRAGMA journal_size_limit = 4194304',
        )
        database.exec('BEGIN IMMEDIATE')
        if (application === 0 && isAgain) throw moved(`${path} is without the log that had all of it: it is not begun anew`)
        if (application === 0) {
          compacted = swept = request.revision ?? 1
          database.exec(`PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${FORM};
            CREATE TABLE revisions (revision INTEGER PRIMARY KEY, key TEXT NOT NULL, created INTEGER NOT NULL, previous INTEGER NOT NULL,
              value BLOB, sum INTEGER NOT NULL, deleted INTEGER GENERATED ALWAYS AS (value IS NULL) VIRTUAL);
            CREATE INDEX revisions_by_key ON revisions (key, revision, deleted);
            CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
            INSERT INTO meta (name, value) VALUES ('compacted', ${compacted}), ('swept', ${swept}), ('sum', ${sumOfMeta()})`)
        }
        database.exec('COMMIT')
        file = place.note()
        // Which of both SQLite has is not known.
        if (before !== undefined && before !== file) throw moved(`${path} was removed or replaced while it was opened`)
        const { user_version: form } = database.prepare('PRAGMA user_version').get() as { user_version: number }
        if (form !== FORM)
          throw new Refused('damaged', `${path} has format ${form}, and this version of the server reads format ${FORM}`, {
            place: 'the head of the file',
          })
        statements = prepare(database)
        compacted = metaOf('compacted')
        swept = metaOf('swept')
        if (metaOf('sum') !== sumOfMeta())
          throw new Refused('damaged', `${path} is damaged: the state of its compaction has changed since it was written`, {
            place: 'the state of compaction',
          })
        const { newest } = database.prepare('SELECT max(revision) AS newest FROM revisions').get() as { newest: number | null }
        // The newest change may have been a deletion that is forgotten.
        revision = Math.max(newest ?? 0, compacted)
        if (request.isVerified) operations.verify({ op: 'verify' })
      } catch (thrown) {
        db = undefined
        database.close()
        throw thrown
      }
      return { revision, compacted, file }
    },

    write: ({ writes, bytes }) => {
      const { row, bytes: packed } = packer()
      const results = transaction(() =>
        writes.map(({ key, expected, value }): WriteAnswer => {
          const found = statements.latest.get(key, revision)
          const isThere = found !== undefined && found['value'] !== null
          const before = row(found)
          if ((expected !== undefined && expected !== (isThere ? found['revision'] : 0)) || (value === undefined && !isThere))
            return { isDone: false, before }
          revision++
          const given = value && bytes.subarray(value.at, value.at + value.length)
          const created = isThere ? (found['created'] as number) : given === undefined ? 0 : revision
          const previous = isThere ? (found['revision'] as number) : 0
          statements.insert.run(
            revision,
            key,
            created,
            previous,
            given === undefined ? 0 : 1,
            given ?? null,
            sumOf(key, revision, created, previous, given),
          )
          return { isDone: true, revision, created, before }
        }),
      )
      return { results, bytes: packed() }
    },

    get: ({ key, at = revision }) => {
      const { row, bytes } = packer()
      return { row: row(statements.latest.get(key, readable(at))), bytes: bytes() }
    },

    range: ({ from, to = END, at = revision, limit }) => {
      readable(at)
      const { row, bytes } = packer()
      const rows = statements.range.all(from, to, at, limit).map((each) => row(each) as StoredRow)
      // The count takes as long as the range has keys: it is known where the limit leaves out none.
      const count = rows.length < limit ? rows.length : (statements.count.get(from, to, at)?.['count'] as number)
      return { rows, count, revision, bytes: bytes() }
    },

    changes: ({ from, to = END, after, limit }) => {
      checkNotOverwritten()
      if (after < compacted) throw compactedAt(after)
      const { row, bytes } = packer()
      const found = statements.changes.all(after, from, to, limit)
      const changes = found.map((each): ChangeRow => {
        const before = each['previous'] === 0 ? undefined : statements.byRevision.get(each['previous'] as number)
        const isDeleted = each['value'] === null
        if (isDeleted) checked(each)
        return {
          key: each['key'] as string,
          revision: each['revision'] as number,
          after: isDeleted ? undefined : row(each),
          before: row(before),
        }
      })
      const last = changes.at(-1)
      return { changes, upTo: last !== undefined && changes.length === limit ? last.revision : revision, bytes: bytes() }
    },

    compact: ({ revision: upTo }) => {
      checkInPlace()
      if (upTo > revision) readable(upTo)
      if (upTo > compacted)
        transaction(() => {
          compacted = upTo
          keepMeta()
        })
      return { compacted }
    },

    sweep: ({ rows }) => {
      const found: { readonly at: number; readonly previous: number; readonly isDeletion: boolean }[] = []
      // What a damaged row says is not deleted, as it may be what another key has now.
      for (const row of statements.toSweep.iterate(swept, compacted, rows))
        found.push({ at: row['revision'] as number, previous: row['previous'] as number, isDeletion: checked(row) === undefined })
      const isOver = found.length < rows
      if (found.length > 0 || swept < compacted)
        transaction(() => {
          for (const { at, previous, isDeletion } of found) {
            if (previous !== 0) statements.forget.run(previous)
            if (isDeletion) statements.forget.run(at)
          }
          swept = isOver ? compacted : (found.at(-1)?.at ?? compacted)
          keepMeta()
        })
      checkInPlace()
      writingFile(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`)
      return { isOver }
    },

    probe: () => {
      // As much as writes may need, so that a disk is not said to have room for a single page.
      transaction(() => {
        opened().exec('CREATE TABLE probe (value BLOB)')
        opened().exec('INSERT INTO probe VALUES (zeroblob(262144))')
      })
      transaction(() => opened().exec('DROP TABLE probe'))
      return {}
    },

    verify: () => {
      const database = opened()
      const problems = database
        .prepare('PRAGMA integrity_check(10)')
        .all()
        .map((row) => String(Object.values(row)[0]))
      if (problems.join() !== 'ok')
        throw new Refused('damaged', `${path} is damaged: ${problems.join('; ')}`, { place: problems[0] ?? '', problems })
      let rows = 0
      for (const row of statements.everything.iterate()) {
        checked(row)
        rows++
      }
      const keys = statements.count.get('', END, revision)?.['count'] as number
      return { rows, keys, revision, compacted }
    },

    close: () => {
      const database = db
      db = undefined
      database?.close()
      return {}
    },
  }

  /**
   * Refuses a log of which SQLite would read less than was acknowledged. It is read before SQLite
   * does, which removes a log when it closes its file. But a log that is written meanwhile, by the
   * process that has the file, can look like anything. So what looks damaged is refused only when
   * it is the same once no process has the file.
   */
  function checkLog(): void {
    for (let bytes = place.bytesOfLog(), last: Buffer | undefined; ; last = bytes, bytes = place.bytesOfLog()) {
      const { log } = place
      const damaged = logDamage(bytes)
      // After the log, as it is made when the file has a page already.
      if (bytes.length > LOG_HEAD && place.file() === undefined)
        throw new Refused(
          'unavailable',
          `${path} is empty, or not there, but its log is (${log}): the file was removed or moved without it. Put the file back beside its log; or, to begin with an empty one, remove the log`,
        )
      if (damaged === undefined) return
      requireUnused()
      if (last?.equals(bytes))
        throw new Refused('damaged', `${path} is damaged: ${damaged} of its log (${log}) is not as it was written, and not its end`, {
          place: `${damaged} of ${log}`,
        })
    }
  }

  /**
   * Throws what SQLite says of a file that another process has. As this asks for the lock of a
   * writer without being one, it comes no further than to the lock: the log is neither read nor
   * removed.
   */
  function requireUnused(): void {
    const database = new DatabaseSync(path, { readOnly: true })
    try {
      database.exec('PRAGMA locking_mode = EXCLUSIVE; SELECT count(*) FROM sqlite_schema')
    } catch (thrown) {
      if (((thrown as { readonly errcode?: number }).errcode ?? 0) % 256 === BUSY) throw thrown
    } finally {
      database.close()
    }
  }

  function refuseToStay(): void {
    if (Atomics.load(isLeaving, 0) === 1) throw new Refused('unavailable', 'the process exits')
  }

  parentPort.on('message', ({ id, request }) => {
    Atomics.store(isBusy, 0, 1)
    try {
      refuseToStay()
      const answer = operations[request.op](request as never)
      const { bytes } = answer as { readonly bytes?: Uint8Array }
      parentPort.postMessage({ id, answer }, bytes === undefined ? [] : [bytes.buffer])
    } catch (thrown) {
      const refusal = thrown instanceof Refused ? thrown.refusal : sqliteRefusal(thrown, path, () => place.isWritable())
      parentPort.postMessage({ id, refusal }, [])
    } finally {
      Atomics.add(done, 0, 1)
      Atomics.store(isBusy, 0, 0)
      Atomics.notify(isBusy, 0)
    }
  })
}
