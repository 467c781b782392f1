import { systemHost } from '../actors/host.ts'
import { attachLifecycleOn } from '../attach.ts'
import { QuiesceError } from '../base/errors.ts'
import { createServerOn } from '../create-server.ts'
import type { Life } from '../lifecycle/life.ts'
import type { DefaultLog } from '../lifecycle/output.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { shownOf } from '../options/kit/secrets.ts'
import type { ServerOptions } from '../options/options.ts'
import { LISTEN_OPTIONS } from '../options/rows/listeners.ts'
import type { Setting } from './arguments.ts'
import type { RunSettings } from './flags.ts'
import type { CliHost } from './host.ts'
import { loadApp, runnableFrom } from './load-app.ts'
import type { Runnable } from './runnable.ts'
import { answerWatcher } from './watch/answer-watcher.ts'

/**
 * `quiesce run APP`: what a module of the user's exports, with a whole life around it.
 *
 * @param release lets go of the stop signals, once the life has them
 * @returns the exit code when there was no life; undefined when its end has set it
 * @throws QuiesceError ERR_OPTION_INVALID for what cannot be run; ERR_IMPORT_ONLY for a module that
 * runs its server itself
 */
export async function runApp(settings: RunSettings, host: CliHost, release: () => void): Promise<ExitCode | undefined> {
  const { earlyStop } = host
  // Only a watcher says --no-watch.
  const isWatched = settings.watch === false && process.connected
  if (isWatched) answerWatcher(earlyStop)
  const loaded = await loadApp(settings.app, host, (exports) => runnableFrom(settings, exports))
  if (typeof loaded === 'number') return loaded
  const runnable = loaded
  const obeyWatcher = (life: Life): void => {
    if (!isWatched) return
    answerWatcher(life.signal('StopRequested'))
    // A generation without its watcher would keep the port.
    process.once('disconnect', () => void life.stop('quiesce run --watch has ended'))
  }
  if (runnable.kind === 'life') {
    refuse(
      settings.serverSettings,
      `none: ${settings.app} exports a server of createServer(), attachLifecycle() or createLife(), whose options are in its code`,
    )
    obeyWatcher(runnable.life)
    const ended = runnable.life.run()
    release()
    await ended
    return undefined
  }
  if (runnable.kind === 'server')
    refuse(
      settings.createdSettings,
      `none: ${settings.app} exports a server of node, whose TLS and HTTP/2 are set where it is made (https.createServer())`,
    )
  const log = { isForAll: true, level: settings.logLevel, wording: settings.wording }
  const { life, listen } = around(runnable, { ...settings.options, signal: earlyStop }, log)
  obeyWatcher(life)
  const ended = life.run()
  // In the same turn: no signal can come in between.
  release()
  listen()
  await ended
  return undefined
}

/** A life with these options, and what makes its server listen. */
function around(
  runnable: Exclude<Runnable, { readonly kind: 'life' }>,
  options: ServerOptions,
  log: DefaultLog,
): { readonly life: Life; readonly listen: () => void } {
  if (runnable.kind === 'handler') return { life: createServerOn(systemHost, runnable.handler, options, log), listen: () => {} }
  const { server, closeWith } = runnable
  const { port = LISTEN_OPTIONS.port.default, host, ...rest } = options
  const life = attachLifecycleOn(systemHost, server, { health: true, ...rest }, log)
  closeWith?.(life)
  return { life, listen: () => void server.listen({ port, ...(host !== undefined && { host }) }) }
}

/** Two answers to one question, named where they were written. */
function refuse(given: readonly Setting[], allowed: string): void {
  const problems = given.map((setting) => `${setting.label}: got ${shownOf(setting.isSecret, setting.given)}, allowed: ${allowed}`)
  if (problems.length > 0) throw new QuiesceError('ERR_OPTION_INVALID', problems.join('\n'))
}
