import { conflict } from '../../status-errors.ts'
import { type Admitted, hasAdmission, mutateBy, validateBy } from '../admission/admit.ts'
import { type ApiObject, isSameJson, keyOf, type ObjectMeta } from '../api-object.ts'
import { deletionFinalizers } from '../deletion-finalizers.ts'
import { orderedMeta } from '../object-meta.ts'
import { specFinalizers } from '../resource/finalize.ts'
import { type DeleteOptions, deleteOptions } from './delete-options.ts'
import { listOptions } from './options.ts'
import { listAs, negotiateOutput, objectAs, send } from './output.ts'
import { timestamp } from './prepare.ts'
import { objectList, storedObject } from './read.ts'
import type { RestRequest } from './rest-request.ts'

/** @see kubernetes/apiserver pkg/endpoints/handlers/delete.go DeleteResource */
export async function deleteObject(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'one')
  const options = await deleteOptions(rest)
  for (;;) {
    const object = await storedObject(rest)
    const outcome = await deleteStored(rest, object, options)
    if (outcome === undefined) continue
    // As upstream: only who asks in the older form is told that it is not gone yet.
    if (outcome !== 'gone') return send(rest, output, options.orphanDependents === false ? 202 : 200, objectAs(rest, output, outcome))
    const { group, plural: kind } = rest.resource
    const { name, uid } = object.metadata
    const details = { name, ...(group !== '' && { group }), kind, uid }
    return send(rest, output, 200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details })
  }
}

/** @see kubernetes/apiserver pkg/endpoints/handlers/delete.go DeleteCollection */
export async function deleteCollection(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'list')
  const list = listOptions(rest, false)
  const options = await deleteOptions(rest)
  // Of a version means exactly that one, as upstream, which reads a collection to delete in pages.
  const found = await objectList(rest, { ...list, match: list.match || 'Exact' })
  for (const object of found.items) {
    // One that was changed meanwhile is deleted as it is then; one that is gone, is.
    let current: ApiObject | undefined = object
    while (current !== undefined && (await deleteStored(rest, current, options)) === undefined)
      current = await rest.storage.get?.(keyOf(object))
  }
  return send(rest, output, 200, listAs(rest, output, found))
}

/**
 * What has come of it: it is gone, or, as its finalizers have to be gone first, as it is now.
 * Undefined: it has been changed meanwhile.
 * @throws StatusError 409 for one that is not what the client says
 */
async function deleteStored(rest: RestRequest, object: ApiObject, options: DeleteOptions): Promise<ApiObject | 'gone' | undefined> {
  const { isDryRun } = options
  checkPreconditions(rest, object, options)
  if (hasAdmission(rest)) {
    const admitted: Admitted = { operation: 'DELETE', object: undefined, oldObject: object, isDryRun }
    await mutateBy(rest, admitted)
    await validateBy(rest, admitted)
  }
  const { metadata } = object
  const expected = metadata.resourceVersion as string
  const finalizers = finalizersOf(rest, metadata, options)
  const isHeld = rest.resource.hasFinalize && specFinalizers(object).length > 0
  // As upstream: what is done with such an object is under way.
  if (isHeld && metadata.deletionTimestamp !== undefined) return object
  if ((finalizers.length === 0 && !isHeld) || rest.storage.update === undefined) {
    if (isDryRun) return 'gone'
    return (await rest.storage.delete(keyOf(object), expected)) && 'gone'
  }
  const held = finalizers.length === 0 ? metadata : { ...metadata, finalizers }
  let marked = beingDeleted({ ...object, metadata: held }, rest.world.clock.wall())
  const { strategy } = rest.resource
  if (metadata.deletionTimestamp === undefined && strategy.prepareForDelete !== undefined) {
    // What is stored is frozen, and a strategy may change what it is given.
    marked = structuredClone(marked)
    strategy.prepareForDelete(marked)
  }
  if (isSameJson(marked, object)) return object
  return isDryRun ? marked : rest.storage.update(marked, expected)
}

/** The finalizers of an object that is deleted: the garbage collector’s only where there is one. */
function finalizersOf(rest: RestRequest, metadata: ObjectMeta, options: DeleteOptions): readonly string[] {
  if (!rest.world.collects(rest.qualified)) return metadata.finalizers ?? []
  return deletionFinalizers(metadata, options, rest.resource.strategy.garbageCollectionPolicy)
}

/** @see kubernetes/apiserver pkg/registry/generic/registry/store.go markAsDeleting */
function beingDeleted(object: ApiObject, wallMs: number): ApiObject {
  const { metadata } = object
  const { deletionTimestamp: since, generation = 0 } = metadata
  const isMarked = since !== undefined && Date.parse(since) <= wallMs
  return {
    ...object,
    metadata: orderedMeta({
      ...metadata,
      ...(since === undefined && { generation: generation + 1 }),
      deletionTimestamp: isMarked ? since : timestamp(wallMs),
      deletionGracePeriodSeconds: 0,
    }),
  }
}

function checkPreconditions(rest: RestRequest, { metadata }: ApiObject, { uid, resourceVersion }: DeleteOptions): void {
  const refuse = (what: string, given: string, is: string | undefined) =>
    conflict(rest.qualified, metadata.name, `Precondition failed: ${what} in precondition: ${given}, ${what} in object meta: ${is ?? ''}`)
  if (uid !== undefined && uid !== metadata.uid) throw refuse('UID', uid, metadata.uid)
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion)
    throw refuse('ResourceVersion', resourceVersion, metadata.resourceVersion)
}
