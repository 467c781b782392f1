import { systemHost } from '../actors/host.ts'
import { attachLifecycleOn } from '../attach.ts'
import { ERROR_CODES, optionError, QuiesceError, toError } from '../base/errors.ts'
import { lookedAt } from '../base/looked-at.ts'
import { createServerOn } from '../create-server.ts'
import type { Life } from '../lifecycle/life.ts'
import type { DefaultLog } from '../lifecycle/output.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { LISTEN_OPTIONS } from '../options/lifecycle-options.ts'
import type { ServerOptions } from '../options/options.ts'
import type { Setting } from './arguments.ts'
import type { CliHost } from './cli.ts'
import { firstLine } from './first-line.ts'
import type { RunSettings } from './flags.ts'
import { APP_ALLOWED, chooseExport, type Runnable, runnableOf } from './runnable.ts'
import { answerOf, importModule } from './user-module.ts'
import { answerWatcher } from './watch/answer-watcher.ts'

/**
 * `quiesce run APP`: what a module of the user's exports, with a whole life around it.
 *
 * @param release lets go of the stop signals, once the life has them
 * @returns the exit code when there was no life; undefined when its end has set it
 * @throws QuiesceError ERR_OPTION_INVALID for what cannot be run; ERR_LOOKED_AT for a module that
 * runs its server itself
 */
export async function runApp(settings: RunSettings, host: CliHost, release: () => void): Promise<ExitCode | undefined> {
  const { earlyStop } = host
  // Only a watcher says --no-watch.
  const isWatched = settings.watch === false && process.connected
  if (isWatched) answerWatcher(earlyStop)
  const loading = load(settings, host)
  // Whatever the module does meanwhile: nothing serves yet that would have to be ended in order.
  const loaded = await Promise.race([loading, aborted(earlyStop)])
  if (loaded === 'stopped' || earlyStop.aborted) return 0
  if (typeof loaded === 'number') return loaded
  const { runnable, listensItself } = loaded
  if (listensItself)
    host.stderr.write(
      `quiesce: ${settings.app} listens by itself as well, and what comes there is not drained: export it without listen()\n`,
    )
  const obeyWatcher = (life: Life): void => {
    if (!isWatched) return
    answerWatcher(life.signal('StopRequested'))
    // A generation without its watcher would keep the port.
    process.once('disconnect', () => void life.stop('the watcher is gone'))
  }
  if (runnable.kind === 'life') {
    refuse(settings.serverSettings, `none: ${settings.app} exports a life, which has options of its own`)
    obeyWatcher(runnable.life)
    const ended = runnable.life.run()
    release()
    await ended
    return undefined
  }
  if (runnable.kind === 'server')
    refuse(
      settings.createdSettings,
      `none: ${settings.app} exports a server, which has been made with or without them (https.createServer())`,
    )
  const log = { isForAll: true, level: settings.logLevel }
  const { life, listen } = around(runnable, { ...settings.options, signal: earlyStop }, log)
  obeyWatcher(life)
  const ended = life.run()
  // In the same turn: no signal can come in between.
  release()
  listen()
  await ended
  return undefined
}

const COULD_NOT_START: ExitCode = 3

interface Loaded {
  readonly runnable: Runnable
  /** Beside the server that it exports. */
  readonly listensItself: boolean
}

/** The exit code, when the module itself has failed; that has been said then. */
async function load({ app, export: name }: RunSettings, { stderr }: CliHost): Promise<Loaded | ExitCode> {
  const before = listening()
  try {
    const runnable = await lookedAt(async () => {
      const { label, value } = chooseExport(await importModule('APP', app, APP_ALLOWED), name, app)
      return runnableOf({ label, value: await settled(label, value) })
    })
    if (runnable.kind === 'server') await runnable.ready?.()
    // A server has begun to listen by the next turn.
    await new Promise((resolve) => setImmediate(resolve))
    return { runnable, listensItself: runnable.kind !== 'life' && listening() > before }
  } catch (thrown) {
    const own = thrown instanceof QuiesceError ? thrown.cause : thrown
    if (own === undefined || isSaidInOneLine(own)) throw thrown
    const error = toError(own)
    stderr.write(`quiesce: ${app} could not be loaded: ${firstLine(error.message)}\n`)
    if (error instanceof SyntaxError) return endOf(error)
    stderr.write(`${error.stack ?? error.message}\n`)
    return COULD_NOT_START
  }
}

/** Of node's loader. Its other codes come from calls that the module makes. */
const LOADER_CODE =
  /^ERR_(MODULE_NOT_FOUND|UNSUPPORTED_|UNKNOWN_(FILE|MODULE|BUILTIN)_|PACKAGE_|INVALID_(MODULE|PACKAGE)_|IMPORT_|REQUIRE_|AMBIGUOUS_)/

/** What a stack would add nothing to: there is no such file, or an option cannot be used. */
function isSaidInOneLine(own: unknown): boolean {
  // Anything may be thrown, and codes of databases are numbers.
  const { code } = (own ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' && (Object.hasOwn(ERROR_CODES, code) || LOADER_CODE.test(code))
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
    return await answerOf(value as PromiseLike<unknown>)
  } catch (thrown) {
    throw new QuiesceError('ERR_OPTION_INVALID', `${label}: its promise was rejected: ${firstLine(toError(thrown).message)}`, {}, thrown)
  }
}

/** A life with these options, and what makes its server listen. */
function around(
  runnable: Exclude<Runnable, { readonly kind: 'life' }>,
  options: ServerOptions,
  log: DefaultLog,
): { readonly life: Life; readonly listen: () => void } {
  if (runnable.kind === 'handler') return { life: createServerOn(systemHost, runnable.handler, options, log), listen: () => {} }
  const { server, close } = runnable
  const { port = LISTEN_OPTIONS.port.default, host, ...rest } = options
  const life = attachLifecycleOn(systemHost, server, { health: true, ...rest }, log)
  if (close) life.addDestroy(close.name, close.run)
  return { life, listen: () => void server.listen({ port, ...(host !== undefined && { host }) }) }
}

/** Two answers to one question, named where they were written. */
function refuse(given: readonly Setting[], allowed: string): void {
  const problems = given.map((setting) => optionError(setting.label, setting.given, allowed).message)
  if (problems.length > 0) throw new QuiesceError('ERR_OPTION_INVALID', problems.join('\n'))
}

const aborted = (signal: AbortSignal): Promise<'stopped'> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve('stopped')
    else signal.addEventListener('abort', () => resolve('stopped'), { once: true })
  })
