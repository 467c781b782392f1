import { createReadStream, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { look, optionError } from '../engine.ts'
import { fileEngine, verifyFile } from '../store/file-engine.ts'
import { isFirstRevision, type KeyValueStore } from '../store/key-value-store.ts'
import { StoreError } from '../store/store-error.ts'
import { type CommandHost, printed, refused } from './engine-command.ts'

const HELP = `\
quiesce-apiserver storage verify FILE          check the whole file, and print what it holds
quiesce-apiserver storage compact FILE         remove old revisions, and make the file smaller
quiesce-apiserver storage export FILE          print the newest revision, one line of JSON for each key
quiesce-apiserver storage import FILE EXPORTED make a file from an export

FILE is the file of --storage file:FILE. Stop its server first. To copy the objects of a running
server, read them from its API.

Exit codes: 0 done, 1 the file is damaged or in use, 2 wrong arguments.
`
const EXPORT_VERSION = 1
const DAMAGED = 1
/** Keys that are read, or written, at a time. */
const STEP = 500

type Action = (host: CommandHost, file: string, from: string | undefined) => Promise<string>

const ACTIONS: ReadonlyMap<string, { readonly operands: number; readonly run: Action }> = new Map(
  Object.entries({
    verify: {
      operands: 1,
      run: async (_: CommandHost, file: string) => {
        const { rows, keys, revision, compacted } = await verifyFile(existing(file))
        return `${file} is whole: ${keys} keys at revision ${revision}, ${rows} revisions of them since ${compacted}\n`
      },
    },
    compact: {
      operands: 1,
      run: async (_: CommandHost, file: string) => {
        const before = statSync(existing(file)).size
        await opened(file, async (store) => {
          const revision = await store.revision()
          // Each gives some pages back.
          for (let size = Number.POSITIVE_INFINITY; ; ) {
            await store.compact(revision)
            const now = statSync(file).size
            if (now >= size) return
            size = now
          }
        })
        return `${file} had ${before} bytes, and now has ${statSync(file).size}\n`
      },
    },
    export: {
      operands: 1,
      run: async (host: CommandHost, file: string) => {
        await opened(existing(file), async (store) => {
          const revision = await store.revision()
          const { count: keys } = await store.range({ from: '', at: revision, limit: 0 })
          host.stdout.write(`${JSON.stringify({ quiesceStorage: EXPORT_VERSION, revision, keys })}\n`)
          for (let from = ''; ; ) {
            const { entries, count } = await store.range({ from, at: revision, limit: STEP })
            for (const { key, value } of entries) host.stdout.write(`${JSON.stringify({ key, ...written(value) })}\n`)
            if (count <= entries.length) return
            from = `${entries.at(-1)?.key}\0`
          }
        })
        return ''
      },
    },
    import: {
      operands: 2,
      run: async (_: CommandHost, file: string, from = '') => {
        // A log would become that of the new file.
        for (const there of [file, `${file}-wal`]) if (isThere(there)) throw optionError('FILE', there, 'a file that is not there yet')
        const part = `${file}.part`
        const remove = (): void => [part, `${part}-wal`].forEach((each) => void rmSync(each, { force: true }))
        remove()
        try {
          const { keys, revision } = await imported(existing(from), part)
          // In one step: what is cut off in the middle is no file that a server could begin with.
          renameSync(part, file)
          return `${file} has ${keys} keys, at revisions behind ${revision}\n`
        } catch (thrown) {
          remove()
          throw thrown
        }
      },
    },
  }),
)

/** `quiesce-apiserver storage ACTION FILE`: what can be done with a file while no server has it. */
export async function storageCommand(host: CommandHost, args: readonly string[]): Promise<number> {
  const [name = '', file, from] = args
  if (args.includes('--help') || name === '') return printed(host, HELP)
  const action = ACTIONS.get(name)
  if (action === undefined) throw optionError('storage', name, [...ACTIONS.keys()].join(', '))
  if (file === undefined || args.length !== action.operands + 1)
    throw optionError(`operands of storage ${name}`, args.slice(1).join(' '), action.operands === 1 ? 'FILE' : 'FILE EXPORTED')
  try {
    return printed(host, await action.run(host, file, from))
  } catch (thrown) {
    if (!(thrown instanceof StoreError)) throw thrown
    refused(host, [thrown.message])
    return DAMAGED
  }
}

/**
 * Makes a file of what was exported.
 * @throws QuiesceError ERR_OPTION_INVALID for what is not all of an export
 */
async function imported(from: string, file: string): Promise<{ readonly keys: number; readonly revision: number }> {
  const lines = linesOf(from)
  const { quiesceStorage, revision, keys } = read((await lines.next()).value ?? '', 1)
  if (quiesceStorage !== EXPORT_VERSION || !isFirstRevision(revision) || typeof keys !== 'number')
    throw optionError('EXPORTED', from, 'what quiesce-apiserver storage export has printed')
  let done = 0
  await opened(
    file,
    async (store) => {
      let writes: Promise<unknown>[] = []
      for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
        const { key, text, base64 } = read(line.value, ++done + 1)
        const [value, encoding] = text === undefined ? ([base64, 'base64'] as const) : ([text, 'utf8'] as const)
        if (typeof key !== 'string' || typeof value !== 'string')
          throw optionError(`EXPORTED, line ${done + 1}`, line.value, 'a key with its text or base64')
        const write = store.put({ key, value: Buffer.from(value, encoding) })
        // Promise.all() reports a failure, but may not have been called yet when it comes.
        write.catch(() => {})
        writes.push(write)
        if (writes.length < STEP) continue
        await Promise.all(writes)
        writes = []
      }
      await Promise.all(writes)
    },
    revision,
  )
  if (done !== keys) throw optionError('EXPORTED', from, `all ${keys} keys of the export; ${done} are in it`)
  return { keys, revision }
}

/**
 * Lines as `export` prints them. Those of node's readline end at U+2028 as well, which JSON has as
 * it is within a text.
 * @throws QuiesceError ERR_OPTION_INVALID for what cannot be read
 */
async function* linesOf(from: string): AsyncGenerator<string, undefined> {
  let rest = ''
  try {
    for await (const chunk of createReadStream(from, 'utf8')) {
      const [first = '', ...more] = String(chunk).split('\n')
      rest += first
      for (const line of more) {
        yield rest
        rest = line
      }
    }
  } catch (thrown) {
    throw optionError('EXPORTED', from, 'a file that can be read', thrown)
  }
  if (rest !== '') yield rest
}

async function opened(path: string, work: (store: KeyValueStore) => Promise<void>, revision = 1): Promise<void> {
  const engine = fileEngine({ path, revision, compactionInterval: 3_600_000 })
  const store = await engine.open({ signal: new AbortController().signal, onCondition: () => {} })
  try {
    await work(store)
  } finally {
    await store.close()
  }
}

const isThere = (file: string): boolean => look(() => existsSync(file)) === true

function existing(file: string): string {
  if (!isThere(file)) throw optionError('FILE', file, 'a file that is there')
  return file
}

/** A value as text where it is one, which JSON is. */
function written(value: Uint8Array): { readonly text: string } | { readonly base64: string } {
  const text = Buffer.from(value).toString()
  return Buffer.from(text).equals(value) ? { text } : { base64: Buffer.from(value).toString('base64') }
}

function read(line: string, number: number): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    return value instanceof Object ? (value as Readonly<Record<string, unknown>>) : {}
  } catch (error) {
    throw optionError(`EXPORTED, line ${number}`, line, 'a line of JSON', error)
  }
}
