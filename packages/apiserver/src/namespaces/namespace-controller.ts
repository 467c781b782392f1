import type { ApiServer } from '../api-server.ts'
import { loopbackResource } from '../client/loopback-resource.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import {
  checkArguments,
  type Duration,
  errorRecord,
  optionError,
  parseDuration,
  systemClock,
  toError,
  withFields,
  withOptions,
} from '../engine.ts'
import { isSameJson } from '../groups/api-object.ts'
import { KUBERNETES_FINALIZER } from '../groups/deletion-finalizers.ts'
import { timestamp } from '../groups/rest/prepare.ts'
import type { SharedInformers } from '../informer/shared-informers.ts'
import { createWorkQueue, type Reconciled } from '../informer/work-queue.ts'
import { labelProblems } from '../names.ts'
import { StatusError } from '../status-errors.ts'
import { NAMESPACES, type Namespace } from './namespace.ts'
import { contentConditions, deleteContent, isAllGone } from './namespace-content.ts'

/**
 * @see kubernetes/kubernetes cmd/kube-controller-manager/app/core.go startNamespaceController
 */
export const NAMESPACE_HOOK = 'start-namespace-controller'

/** @see kubernetes/kubernetes pkg/controlplane/instance.go */
export const SYSTEM_NAMESPACES_HOOK = 'start-system-namespaces-controller'

/** @see kubernetes/kubernetes pkg/controlplane/apiserver/options/options.go SystemNamespaces */
const SYSTEM_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default']

/** Time until what is left in a namespace is looked at again. */
const AGAIN = '2s'

/**
 * The same where others have to take their finalizers first, which may be never: each look asks for
 * everything in the namespace.
 * @see kubernetes/kubernetes pkg/controller/namespace/deletion/namespaced_resources_deleter.go
 * finalizerEstimateSeconds
 */
const AGAIN_HELD = '8s'

/** Time between two looks whether the namespaces of the system are there. */
const SYSTEM_AGAIN = '1m'

export interface NamespaceControllerOptions {
  /** The informers of the server, which {@link sharedInformers} gives. */
  readonly informers: SharedInformers
  /**
   * Namespaces that are created when they are not there. Default: `default`, `kube-system`,
   * `kube-public` and `kube-node-lease`, as in every cluster.
   */
  readonly systemNamespaces?: readonly string[]
  /** Namespaces that are emptied at a time. Default 2. */
  readonly workers?: number
  /**
   * Time between the deletion of a namespace and the first look at what is in it. An object whose
   * creation was admitted before is stored by then, and does not stay behind its namespace.
   * Default 5 s.
   * @see kubernetes/kubernetes pkg/controller/namespace/namespace_controller.go
   * namespaceDeletionGracePeriod
   */
  readonly deletionGracePeriod?: Duration
}

const A_SERVER = withFields('what createApiServer() returns', 'addPostStartHook', 'loopback', 'apiGroups')

/**
 * Empties namespaces that are deleted, as a controller of the server: the post-start hook
 * `start-namespace-controller`. Everything in a namespace is deleted, a group after the other, of
 * all groups that are installed by then; what has finalizers is waited for, and the conditions of
 * the namespace say so. Then the finalizer `kubernetes` is taken, and the namespace is gone. The
 * hook `start-system-namespaces-controller` creates the namespaces that every server has.
 * @throws QuiesceError ERR_OPTION_INVALID, ERR_DUPLICATE, ERR_TOO_LATE
 * @see kubernetes/kubernetes pkg/controller/namespace/namespace_controller.go
 * @example
 * server.installLegacyApiGroup('/api', namespaceGroup(namespaces))
 * addNamespaceController(server, { informers: sharedInformers(server) })
 */
export function addNamespaceController(server: ApiServer, options: NamespaceControllerOptions): void {
  checkArguments(
    'addNamespaceController(server, options)',
    [server, A_SERVER],
    [options, withOptions<NamespaceControllerOptions>('informers', 'systemNamespaces', 'workers', 'deletionGracePeriod')],
  )
  const { informers, systemNamespaces = SYSTEM_NAMESPACES, workers = 2, deletionGracePeriod = '5s' } = options
  parseDuration('deletionGracePeriod of addNamespaceController()', deletionGracePeriod)
  if (!Array.isArray(systemNamespaces) || systemNamespaces.some((name) => typeof name !== 'string' || labelProblems(name).length > 0))
    throw optionError('systemNamespaces of addNamespaceController()', systemNamespaces, 'a list of names of namespaces')
  const informer = informers.of(NAMESPACES)
  const client = loopbackResource(server.loopback, NAMESPACES)
  const failed = (name: string, error: unknown): void =>
    server.warn(`namespace ${name} is tried again: ${toError(error).message}`, { err: errorRecord(error) })
  server.addPostStartHook(NAMESPACE_HOOK, ({ signal }) => {
    const queue = createWorkQueue()
    informer.events$.subscribe(({ type, object: { metadata } }) => {
      if (type !== 'deleted' && metadata.deletionTimestamp !== undefined) queue.addAfter(metadata.name, deletionGracePeriod)
    })
    void queue.run({ reconcile: (name) => finalize(server, client, name, signal), signal, workers, failed })
  })
  server.addPostStartHook(SYSTEM_NAMESPACES_HOOK, ({ signal }) => {
    const queue = createWorkQueue()
    for (const name of systemNamespaces) queue.add(name)
    const reconcile = async (name: string): Promise<Reconciled> => {
      await informer.synced(signal)
      if (informer.get({ namespace: '', name }) === undefined) await create(client, name, signal)
      return { requeueAfter: SYSTEM_AGAIN }
    }
    void queue.run({ reconcile, signal, failed })
  })
}

async function create(client: ResourceClient<Namespace>, name: string, signal: AbortSignal): Promise<void> {
  const namespace: Namespace = { kind: NAMESPACES.kind, apiVersion: NAMESPACES.apiVersion, metadata: { name } }
  await client.create(namespace, { signal }).catch(passOver(409))
}

/**
 * Does what is to be done with a namespace that is deleted.
 * @see kubernetes/kubernetes pkg/controller/namespace/deletion/namespaced_resources_deleter.go
 */
async function finalize(
  server: ApiServer,
  client: ResourceClient<Namespace>,
  name: string,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const found = await client.get({ namespace: '', name }, { signal })
  if (found?.metadata.deletionTimestamp === undefined || !hasWork(found)) return undefined
  const left = await deleteContent(server.loopback, server.apiGroups, name, signal)
  const now = timestamp(systemClock.wall())
  const status = { phase: 'Terminating', conditions: contentConditions(left, found.status?.conditions ?? [], now) } as const
  const known = isSameJson(status, found.status)
    ? found
    : await client.update({ ...found, status }, { signal, subresource: 'status' }).catch(passOver(404, 409))
  // Its change has it looked at again; one that is gone is done.
  if (known === undefined) return undefined
  if (!isAllGone(left)) return { requeueAfter: left.failures.length === 0 && left.byFinalizer.size > 0 ? AGAIN_HELD : AGAIN }
  const finalizers = (known.spec?.finalizers ?? []).filter((each) => each !== KUBERNETES_FINALIZER)
  await client.update({ ...known, spec: { ...known.spec, finalizers } }, { signal, subresource: 'finalize' }).catch(passOver(404, 409))
  return undefined
}

const hasWork = ({ spec }: Namespace): boolean => spec?.finalizers?.includes(KUBERNETES_FINALIZER) === true

/** Answers that are none of a failure: others have been quicker. */
const passOver =
  (...codes: readonly number[]) =>
  (thrown: unknown): undefined => {
    if (!(thrown instanceof StatusError && codes.includes(thrown.failure.code))) throw thrown
  }
