import { auditRequestObject } from '../../audit/request-audit.ts'
import { conflict } from '../../status-errors.ts'
import { hasAdmission, mutateBy, validateBy } from '../admission/admit.ts'
import { type ApiObject, isSameJson } from '../api-object.ts'
import { specFinalizers } from '../resource/finalize.ts'
import { storedForm, storedVersion, throughStorage } from '../storage/storage-in-version.ts'
import { type Decoded, decodeAgain } from './decode.ts'
import { writeOptions } from './options.ts'
import { negotiateOutput, objectAs, send } from './output.ts'
import { prepareUpdate, takeName, takeNamespace } from './prepare.ts'
import { storedObject } from './read.ts'
import { readSent } from './read-sent.ts'
import type { RestRequest } from './rest-request.ts'

/** @see kubernetes/apiserver pkg/endpoints/handlers/update.go UpdateResource */
export async function updateObject(rest: RestRequest): Promise<void> {
  const { world, exchange } = rest
  const output = negotiateOutput(rest, 'one')
  const decode = await readSent(rest)
  const { isDryRun, fieldValidation } = writeOptions(rest, 'UpdateOptions')
  const warn = (warning: string): void => world.warn(exchange, warning)
  const decoded = await decode({ part: rest.part, fieldValidation, warn })
  takeNamespace(rest, decoded.object)
  takeName(rest, decoded.object)
  auditRequestObject(rest.request, decoded.object)
  const stored = await changeStored(rest, () => decoded, isDryRun)
  return send(rest, output, 200, objectAs(rest, output, stored))
}

/**
 * How often a change is made anew of what was stored meanwhile; each time another writer has got on
 * with its own.
 */
const TRIES_MAX = 100

/**
 * Changes the stored object, whatever others do at the same time: what is made is made from the one
 * that it takes the place of. What changes nothing is not written, unless the object is stored in
 * another version than it would be now; what was only waited for by its finalizers, and has none
 * any more, is deleted.
 * @see kubernetes/apiserver pkg/registry/generic/registry/store.go Update
 */
export async function changeStored(rest: RestRequest, make: (old: ApiObject) => Decoded, isDryRun: boolean): Promise<ApiObject> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const old = await storedObject(rest)
    const updated = await admittedUpdate(rest, make(old), old, isDryRun)
    if (isSameJson(updated, old) && !isStoredOtherwise(rest, old)) return old
    if (isDryRun) return (await throughStorage(rest.resource, updated, () => storedForm(old))).again
    const expected = old.metadata.resourceVersion as string
    const isHeld = updated.metadata.finalizers !== undefined || (rest.resource.hasFinalize && specFinalizers(updated).length > 0)
    const isOver = updated.metadata.deletionTimestamp !== undefined && !isHeld
    const stored = isOver ? (await rest.storage.delete?.(rest.key, expected)) && updated : await rest.storage.update(updated, expected)
    if (stored !== undefined) return stored
  }
  throw conflict(rest.qualified, rest.key.name)
}

/** Whether it is written anew as it is, so that it comes to be stored in the new version. */
const isStoredOtherwise = ({ resource }: RestRequest, old: ApiObject): boolean =>
  storedVersion(old) !== resource.versions[resource.storageVersion]?.apiVersion

/**
 * What is made of an object is changed by plugins, checked, and shown to those that validate.
 * @see kubernetes/apiserver pkg/endpoints/handlers/update.go, pkg/registry/rest/update.go
 */
async function admittedUpdate(rest: RestRequest, decoded: Decoded, oldObject: ApiObject, isDryRun: boolean): Promise<ApiObject> {
  if (!hasAdmission(rest)) return prepareUpdate(rest, decoded, oldObject)
  const copy = structuredClone(decoded.object) as ApiObject
  const isMutated = await mutateBy(rest, { operation: 'UPDATE', object: copy, oldObject, isDryRun })
  const object = prepareUpdate(rest, isMutated ? decodeAgain(rest.resource, copy, rest.part) : decoded, oldObject)
  await validateBy(rest, { operation: 'UPDATE', object, oldObject, isDryRun })
  return object
}
