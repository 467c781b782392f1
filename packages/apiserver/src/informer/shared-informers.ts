import type { ApiServer } from '../api-server.ts'
import { type LoopbackScope, loopbackResource } from '../client/loopback-resource.ts'
import { checkArguments, type Duration, errorRecord, informersSynced, parseDuration, toError, withFields, withOptions } from '../engine.ts'
import type { ApiObject } from '../groups/api-object.ts'
import type { Resource } from '../groups/resource/define-resource.ts'
import { createInformer, type Informer } from './informer.ts'
import type { Indexer } from './object-cache.ts'

/** @see kubernetes/apiserver pkg/server/config.go completedConfig.New */
export const INFORMERS_HOOK = 'generic-apiserver-start-informers'

/** @see kubernetes/apiserver pkg/server/healthz/healthz.go NewInformerSyncHealthz */
export const INFORMERS_CHECK = 'informer-sync'

export interface SharedInformersOptions {
  /** Time between two reminders of all objects. Default 10 minutes; 0: there are none. */
  readonly resync?: Duration
}

export interface InformerScope<T extends ApiObject = ApiObject> extends LoopbackScope {
  /** Indexes beside that of keys, also for others who share the informer. */
  readonly indexers?: Readonly<Record<string, Indexer<T>>>
}

/** The informers of a server, each kind and scope once. */
export interface SharedInformers {
  /**
   * The informer of a kind, which all who ask for the same objects share. One that is asked for
   * after the start begins at once. Until it has its objects, the server is not ready.
   * @throws QuiesceError ERR_OPTION_INVALID, ERR_DUPLICATE for the name of another indexer
   */
  of<T extends ApiObject>(resource: Resource<T>, scope?: InformerScope<T>): Informer<T>
}

const A_SERVER = withFields('what createApiServer() returns', 'addPostStartHook', 'loopback')

/**
 * Informers that live as long as their server: the post-start hook
 * `generic-apiserver-start-informers` starts them, the check `informer-sync` of `/readyz` fails
 * until each has its objects, and they end when the server has no more requests to answer. They
 * are clients of the server itself.
 * @throws QuiesceError ERR_DUPLICATE for a server that has them, ERR_TOO_LATE for one that is
 * prepared
 * @see kubernetes/client-go informers/factory.go NewSharedInformerFactory
 * @example
 * const informers = sharedInformers(server)
 * informers.of(widgets).events$.subscribe(({ type, object }) => queue.add(object.metadata.name))
 */
export function sharedInformers(server: ApiServer, options: SharedInformersOptions = {}): SharedInformers {
  checkArguments('sharedInformers(server, options?)', [server, A_SERVER], [options, withOptions<SharedInformersOptions>('resync')])
  const { resync = '10m' } = options
  parseDuration('resync of sharedInformers()', resync)
  const all = new Map<string, Informer>()
  let running: AbortSignal | undefined
  server.addPostStartHook(INFORMERS_HOOK, ({ signal }) => {
    running = signal
    for (const informer of all.values()) void informer.run(signal)
  })
  server.addReadyzCheck(INFORMERS_CHECK, (context) => {
    const states = [...all.values()].map((informer) => ({ type: informer.name, hasSynced: () => informer.hasSynced }))
    return informersSynced(states)(context)
  })
  return {
    of: <T extends ApiObject>(resource: Resource<T>, { indexers = {}, ...scope }: InformerScope<T> = {}): Informer<T> => {
      const client = loopbackResource(server.loopback, resource, scope)
      const key = JSON.stringify([client.name, scope.namespace ?? '', scope.labelSelector ?? ''])
      const known = all.get(key)
      if (known) {
        const shared = known as unknown as Informer<T>
        shared.addIndexers(indexers)
        return shared
      }
      const failed = (error: unknown): void =>
        server.warn(`informer of ${client.name} tries again: ${toError(error).message}`, { err: errorRecord(error) })
      const informer = createInformer(client, { resync, indexers, failed })
      all.set(key, informer as unknown as Informer)
      if (running) void informer.run(running)
      return informer
    },
  }
}
