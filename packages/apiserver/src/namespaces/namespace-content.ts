import { loopbackResource } from '../client/loopback-resource.ts'
import { toError } from '../engine.ts'
import { type ApiGroup, verbsOfResource } from '../groups/api-group.ts'
import type { Resource } from '../groups/resource/define-resource.ts'
import type { LoopbackClient } from '../loopback/loopback.ts'
import type { NamespaceCondition } from './namespace.ts'

/** What is left in a namespace after everything in it was deleted. */
export interface LeftContent {
  /** Objects by resource: `orders.shop.example`. */
  readonly byResource: ReadonlyMap<string, number>
  /** Objects by each of their finalizers. */
  readonly byFinalizer: ReadonlyMap<string, number>
  readonly failures: readonly string[]
}

/**
 * Deletes everything in a namespace, a group after the other, and says what is left: objects with
 * finalizers, and what could not be deleted.
 * @see kubernetes/kubernetes pkg/controller/namespace/deletion/namespaced_resources_deleter.go
 */
export async function deleteContent(
  loopback: LoopbackClient,
  groups: readonly ApiGroup[],
  namespace: string,
  signal: AbortSignal,
): Promise<LeftContent> {
  const byResource = new Map<string, number>()
  const byFinalizer = new Map<string, number>()
  const failures: string[] = []
  const add = (to: Map<string, number>, name: string): void => void to.set(name, (to.get(name) ?? 0) + 1)
  for (const resource of groups.flatMap(deletable)) {
    const client = loopbackResource(loopback, resource, { namespace })
    try {
      await client.deleteAll({ propagationPolicy: 'Background' }, { signal })
      for (const { metadata } of (await client.list({ signal })).items) {
        add(byResource, `${resource.plural}.${resource.group}`)
        for (const finalizer of metadata.finalizers ?? []) add(byFinalizer, finalizer)
      }
    } catch (thrown) {
      failures.push(`${client.name}: ${toError(thrown).message}`)
    }
  }
  return { byResource, byFinalizer, failures }
}

/** The resources of a group that are in namespaces, each in one version. */
function deletable({ versions }: ApiGroup): readonly Resource[] {
  const found = new Map<string, Resource>()
  for (const served of versions.flatMap(({ resources }) => resources)) {
    const { resource } = served
    if (resource.isNamespaced && !found.has(resource.plural) && verbsOfResource(served).includes('deletecollection'))
      found.set(resource.plural, resource)
  }
  return [...found.values()]
}

export const isAllGone = ({ byResource, failures }: LeftContent): boolean => byResource.size === 0 && failures.length === 0

/**
 * What people are told of what is left. Conditions that say the same keep their time.
 * @see kubernetes/kubernetes pkg/controller/namespace/deletion/status_condition_utils.go
 */
export function contentConditions(
  { byResource, byFinalizer, failures }: LeftContent,
  known: readonly NamespaceCondition[],
  now: string,
): readonly NamespaceCondition[] {
  const counted = (of: ReadonlyMap<string, number>, words: (name: string, count: number) => string): string =>
    [...of]
      .map(([name, count]) => words(name, count))
      .sort()
      .join(', ')
  const made = [
    failures.length === 0
      ? fine('NamespaceDeletionContentFailure', 'ContentDeleted', 'All content successfully deleted, may be waiting on finalization')
      : trouble(
          'NamespaceDeletionContentFailure',
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`,
        ),
    byResource.size === 0
      ? fine('NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed')
      : trouble(
          'NamespaceContentRemaining',
          'SomeResourcesRemain',
          `Some resources are remaining: ${counted(byResource, (name, count) => `${name} has ${count} resource instances`)}`,
        ),
    byFinalizer.size === 0
      ? fine('NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished')
      : trouble(
          'NamespaceFinalizersRemaining',
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${counted(byFinalizer, (name, count) => `${name} in ${count} resource instances`)}`,
        ),
  ]
  const others = known.filter(({ type }) => !made.some((each) => each.type === type))
  return [
    ...others,
    ...made.map((each): NamespaceCondition => {
      const before = known.find(({ type }) => type === each.type)
      const since = before?.status === each.status ? before.lastTransitionTime : now
      return {
        type: each.type,
        status: each.status,
        ...(since !== undefined && { lastTransitionTime: since }),
        reason: each.reason,
        message: each.message,
      }
    }),
  ]
}

type Made = Required<Pick<NamespaceCondition, 'type' | 'status' | 'reason' | 'message'>>

const fine = (type: string, reason: string, message: string): Made => ({ type, status: 'False', reason, message })
const trouble = (type: string, reason: string, message: string): Made => ({ type, status: 'True', reason, message })
