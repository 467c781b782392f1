import { type ApiServer, createApiServerOn } from '../api-server.ts'
import { type ApiServerConfig, type CompletedConfig, completeConfigFor } from '../config.ts'
import { type Delegate, emptyDelegate } from '../delegate.ts'
import { QuiesceError, requestListener, systemHost } from '../engine.ts'
import { takingOver } from '../upgrades.ts'
import {
  API_SERVER_EXPORT,
  apiServerOf,
  type CommandHost,
  type ExitCode,
  type Exports,
  loadApp,
  makesApiServer,
  type Runnable,
  runnableFrom,
} from './engine-command.ts'
import type { ApiServerSettings } from './flags.ts'
import { ownPackage } from './own-package.ts'

/**
 * `quiesce-apiserver [APP]`: an API server by itself, or what a module of the user's has behind its
 * filters, with a whole life around it.
 *
 * @param release lets go of the stop signals, once the life has them
 * @returns the exit code when there was no life; undefined when its end has set it
 * @throws QuiesceError ERR_OPTION_INVALID for what cannot be served; ERR_IMPORT_ONLY for a module
 * that runs its server itself
 */
export async function serveApi(settings: ApiServerSettings, host: CommandHost, release: () => void): Promise<ExitCode | undefined> {
  const { app, export: name, options, logLevel, wording } = settings
  const log = { isForAll: true, level: logLevel, wording }
  const complete: Complete = (own) => completeConfigFor({ log, wording }, { ...own, ...options, signal: host.earlyStop })
  const found =
    app === undefined ? core(complete) : await loadApp(app, host, (exports) => servedOf({ app, export: name }, exports, complete))
  if (typeof found === 'number') return found
  const prepared = found.server.prepare()
  found.closeWith?.(prepared.life)
  const ended = prepared.run()
  // In the same turn: no signal can come in between.
  release()
  await ended
  return undefined
}

/** Completes a config with what is not the user's to say; what is comes before it. */
type Complete = (own: ApiServerConfig) => CompletedConfig

interface Served {
  readonly kind: string
  readonly server: ApiServer
  /** What has to be done before it is prepared. */
  readonly ready?: () => unknown
  /** Has the life run closing hooks of its own. */
  readonly closeWith?: Extract<Runnable, { readonly kind: 'server' }>['closeWith']
}

/** A server without an API group: there is none to discover. */
const core = (complete: Complete): Served => ({
  kind: 'core',
  server: createApiServerOn(systemHost, complete({ enableDiscovery: false, version: { gitVersion: `v${ownPackage().version}` } })),
})

async function servedOf(chosen: { readonly app: string; readonly export: string }, exports: Exports, complete: Complete): Promise<Served> {
  const { app, export: name } = chosen
  if (name === 'default' && makesApiServer(exports)) return { kind: 'made', server: await apiServerOf(app, exports, complete({})) }
  const runnable = await runnableFrom(chosen, exports)
  if (runnable.kind !== 'life') return mounted(runnable, complete)
  const instead = `quiesce run ${app} runs it; to have those of the flags, export a function ${API_SERVER_EXPORT}(config)`
  throw new QuiesceError('ERR_OPTION_INVALID', `APP: ${app} exports a server whose options are in its code: ${instead}`)
}

/** Every path is the application's that a server does not need for itself, as the index. */
async function mounted(runnable: Exclude<Runnable, { readonly kind: 'life' }>, complete: Complete): Promise<Served> {
  const delegate = runnable.kind === 'handler' ? emptyDelegate(await requestListener(runnable.handler)()) : serverAsDelegate(runnable)
  const server = createApiServerOn(systemHost, complete({ enableIndex: false, enableDiscovery: false, enableStatusz: false }), { delegate })
  if (runnable.kind === 'handler') return { kind: 'handler', server }
  const { ready, closeWith } = runnable
  return { kind: 'server', server, ...(ready && { ready }), ...(closeWith && { closeWith }) }
}

/** What a server would do with requests if it listened; with upgrades, once it is ready. */
const serverAsDelegate = ({ server }: Extract<Runnable, { readonly kind: 'server' }>): Delegate => ({
  ...emptyDelegate((request, response) => void server.emit('request', request, response)),
  get upgrades() {
    const isTaking = server.listenerCount('upgrade') > 0
    return isTaking ? takingOver((...upgrade) => server.emit('upgrade', ...upgrade)) : undefined
  },
})
