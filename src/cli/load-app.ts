import { ERROR_CODES, type ErrorCode, QuiesceError, toError } from '../base/errors.ts'
import { importOnly } from '../base/import-only.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { CommandHost } from './command-host.ts'
import { firstLine } from './first-line.ts'
import { APP_ALLOWED, chooseExport, type Runnable, runnableOf } from './runnable.ts'
import { type Exports, importModule, settledValue } from './user-module.ts'

const COULD_NOT_START: ExitCode = 3
const OK: ExitCode = 0

/** What a module is found to be. */
interface Loadable {
  readonly kind: string
  /** What has to be done before it is served. */
  readonly ready?: () => unknown
}

/**
 * Loads a module of the user's that is going to be served, and makes it ready to be.
 * @param find what of its exports that is
 * @returns the exit code, when the module itself has failed, and that has been said; or when a stop
 * signal has come meanwhile
 * @throws QuiesceError ERR_OPTION_INVALID for a module that cannot be run
 */
export async function loadApp<Found extends Loadable>(
  app: string,
  host: CommandHost,
  find: (exports: Exports) => Promise<Found>,
): Promise<Found | ExitCode> {
  const { program, stderr, earlyStop } = host
  const loading = load(app, host, find)
  // Whatever the module does meanwhile: nothing serves yet that would have to be ended in order.
  const loaded = await Promise.race([loading, aborted(earlyStop)])
  if (loaded === 'stopped' || earlyStop.aborted) return OK
  if (typeof loaded === 'number') return loaded
  if (loaded.listensItself)
    stderr.write(
      `${program}: ${app} calls listen() itself, and requests to that port are not drained: export the server without calling listen()\n`,
    )
  return loaded.found
}

/** The export that is to be run, settled. */
export async function runnableFrom(
  { app, export: name }: { readonly app: string; readonly export: string },
  exports: Exports,
): Promise<Runnable> {
  const { label, value } = chooseExport(exports, name, app)
  return runnableOf({ label, value: await settled(label, value) })
}

interface Loaded<Found> {
  readonly found: Found
  /** Whether the module listens beside the server that it exports. */
  readonly listensItself: boolean
}

async function load<Found extends Loadable>(
  app: string,
  { program, stderr, earlyStop }: CommandHost,
  find: (exports: Exports) => Promise<Found>,
): Promise<Loaded<Found> | ExitCode> {
  const before = listening()
  // Without a word of its own nothing would tell that there was no server.
  const onExit = (code: number): void => {
    if (earlyStop.aborted) return
    stderr.write(`${program}: ${app}: the process ended with exit code ${code} while it was loaded, so there is no server\n`)
    process.exitCode = COULD_NOT_START
  }
  process.once('exit', onExit)
  try {
    const found = await importOnly(async () => find(await importModule('APP', app, APP_ALLOWED)))
    await found.ready?.()
    // A server has begun to listen by the next turn.
    await new Promise((resolve) => setImmediate(resolve))
    return { found, listensItself: found.kind !== 'life' && listening() > before }
  } catch (thrown) {
    process.off('exit', onExit)
    const isOurs = thrown instanceof QuiesceError
    const own = isOurs ? thrown.cause : thrown
    const line = inOneLine(app, own)
    if (isOurs && (own === undefined || line)) throw thrown
    if (line) throw line
    const error = toError(own)
    stderr.write(`${program}: ${app} could not be loaded: ${firstLine(error.message)}\n`)
    if (error instanceof SyntaxError) return await endOf(error)
    stderr.write(`${error.stack ?? error.message}\n`)
    return COULD_NOT_START
  } finally {
    process.off('exit', onExit)
  }
}

/** The codes of node's loader. Its other codes come from calls that the module makes. */
const LOADER_CODE =
  /^ERR_(MODULE_NOT_FOUND|UNSUPPORTED_|UNKNOWN_(FILE|MODULE|BUILTIN)_|PACKAGE_|INVALID_(MODULE|PACKAGE)_|IMPORT_|REQUIRE_|AMBIGUOUS_)/

/**
 * What a stack would add nothing to: there is no such file, or an option cannot be used, as another
 * copy of this package, which a module may have, may have found. Undefined for anything else.
 */
function inOneLine(app: string, own: unknown): QuiesceError | undefined {
  // Anything may be thrown, and codes of databases are numbers.
  const { code } = (own ?? {}) as { readonly code?: unknown }
  if (typeof code !== 'string') return undefined
  const { message } = toError(own)
  if (Object.hasOwn(ERROR_CODES, code)) return new QuiesceError(code as ErrorCode, message, {}, own)
  if (!LOADER_CODE.test(code)) return undefined
  return new QuiesceError('ERR_OPTION_INVALID', `APP: ${app} could not be loaded: ${firstLine(message)}`, {}, own)
}

/**
 * The process ends as node ends a program that has thrown this, because only node knows the place
 * of a syntax error; but the exit code is that of a server that could not start.
 */
function endOf(thrown: Error): Promise<never> {
  process.once('exit', () => {
    process.exitCode = COULD_NOT_START
  })
  setImmediate(() => {
    // The module may listen to uncaught exceptions.
    setImmediate(() => process.exit(COULD_NOT_START))
    throw thrown
  })
  return new Promise(() => {})
}

const listening = (): number => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length

/** An app may be a promise: one that an async function makes, or Fastify, which is one itself. */
async function settled(label: string, value: unknown): Promise<unknown> {
  if (typeof value !== 'object' || typeof (value as PromiseLike<unknown> | null)?.then !== 'function') return value
  try {
    return await settledValue(value as PromiseLike<unknown>)
  } catch (thrown) {
    throw new QuiesceError('ERR_OPTION_INVALID', `${label}: its promise was rejected: ${firstLine(toError(thrown).message)}`, {}, thrown)
  }
}

const aborted = (signal: AbortSignal): Promise<'stopped'> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve('stopped')
    else signal.addEventListener('abort', () => resolve('stopped'), { once: true })
  })
