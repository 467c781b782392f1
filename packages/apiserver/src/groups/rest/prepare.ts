import { randomUUID } from 'node:crypto'
import { badRequest, conflict } from '../../status-errors.ts'
import { type ApiObject, isSameJson, type ObjectMeta } from '../api-object.ts'
import { type FieldError, fieldErrors, invalidObject } from '../field-errors.ts'
import { finalizerWarnings, metaErrors, metaUpdateErrors, orderedMeta } from '../object-meta.ts'
import { takeSpecFinalizers } from '../resource/finalize.ts'
import { scaleErrors } from '../resource/scale.ts'
import { updateErrors } from '../resource/schema-walk.ts'
import type { Decoded } from './decode.ts'
import type { RestRequest } from './rest-request.ts'

/** A time as the API writes it: whole seconds. */
export const timestamp = (wallMs: number): string => new Date(wallMs).toISOString().replace(/\.\d+Z$/, 'Z')

/** @throws StatusError 400 for an object of another namespace than that of the request */
export function takeNamespace(rest: RestRequest, { metadata }: ApiObject): void {
  if (!rest.resource.isNamespaced) delete metadata.namespace
  else if (metadata.namespace === undefined) metadata.namespace = rest.namespace
  else if (metadata.namespace !== rest.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** @throws StatusError 400 for an object of another name than that of the request, or of none */
export function takeName(rest: RestRequest, { metadata }: ApiObject): void {
  const { name } = rest.key
  if (metadata.name === '') throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`)
  if (metadata.name !== name) throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`)
}

/**
 * Makes of an object that was sent the one that is created.
 * @throws StatusError 422
 * @see kubernetes/apiserver pkg/registry/rest/create.go BeforeCreate
 */
export function prepareCreate(rest: RestRequest, { object, errors }: Decoded, name: string): ApiObject {
  const { resource, world } = rest
  const { uid: _, deletionTimestamp: _at, deletionGracePeriodSeconds: _grace, ...given } = object.metadata
  const created = structuredClone({
    ...object,
    metadata: { ...given, name, uid: randomUUID(), generation: 1, creationTimestamp: timestamp(world.clock.wall()) },
  }) as ApiObject
  if (resource.hasStatus) delete created['status']
  resource.strategy.prepareForCreate?.(created)
  finish(rest, created, undefined, errors)
  return created
}

/**
 * Makes of an object that was sent the one that takes the place of the stored one.
 * @throws StatusError 409 for one that was made from another version, 422
 * @see kubernetes/apiserver pkg/registry/rest/update.go BeforeUpdate
 */
export function prepareUpdate(rest: RestRequest, { object, errors }: Decoded, old: ApiObject): ApiObject {
  const { resource } = rest
  checkVersion(rest, object.metadata, old.metadata)
  const { uid, resourceVersion, creationTimestamp, generation } = old.metadata
  const isOfStatus = rest.subresource === 'status'
  const fixed = {
    uid,
    resourceVersion,
    creationTimestamp,
    // What is sent of a deletion that was not asked for is left, to be refused.
    deletionTimestamp: old.metadata.deletionTimestamp ?? object.metadata.deletionTimestamp,
    deletionGracePeriodSeconds: object.metadata.deletionGracePeriodSeconds ?? old.metadata.deletionGracePeriodSeconds,
    generation,
  } as Partial<ObjectMeta>
  const metadata: ObjectMeta = isOfStatus ? old.metadata : { ...object.metadata, ...fixed }
  const updated = structuredClone(
    isOfStatus ? withStatus({ ...old }, object['status']) : resource.hasStatus ? withStatus({ ...object }, old['status']) : { ...object },
  ) as ApiObject
  updated.metadata = orderedMeta(structuredClone(metadata))
  if (resource.hasFinalize && rest.subresource !== 'finalize') takeSpecFinalizers(updated, old)
  if (!isOfStatus && updated.metadata.generation !== undefined && hasOtherFields(updated, old)) updated.metadata.generation++
  resource.strategy.prepareForUpdate?.(updated, old)
  finish(rest, updated, old, errors.length === 0 ? errors : updateErrors(resource.schema, updated, old, rest.part))
  return updated
}

function withStatus(object: ApiObject, status: unknown): ApiObject {
  if (status === undefined) delete object['status']
  else object['status'] = status
  return object
}

/** What users ask for is another: neither its metadata nor its status. */
function hasOtherFields(updated: ApiObject, old: ApiObject): boolean {
  const { metadata: _, status: _status, ...asked } = updated
  const { metadata: _old, status: _oldStatus, ...had } = old
  return !isSameJson(asked, had)
}

/** Who names a version or a uid changes that one and no other. */
function checkVersion(rest: RestRequest, given: ObjectMeta, old: ObjectMeta): void {
  if (given.uid !== undefined && given.uid !== old.uid)
    throw conflict(rest.qualified, old.name, `Precondition failed: UID in precondition: ${given.uid}, UID in object meta: ${old.uid ?? ''}`)
  // `0` is none, as upstream.
  if ((given.resourceVersion ?? '0') !== '0') {
    if (given.resourceVersion !== old.resourceVersion) throw conflict(rest.qualified, old.name)
  } else if (rest.resource.strategy.allowsUnconditionalUpdate === false)
    refuseInvalid(rest, old.name, [fieldErrors.invalid('metadata.resourceVersion', 0, 'must be specified for an update')])
}

/** Its strategy's last steps, which are the same for both. */
function finish(rest: RestRequest, object: ApiObject, old: ApiObject | undefined, errors: readonly FieldError[]): void {
  const { resource } = rest
  const { strategy } = resource
  object.metadata = orderedMeta(object.metadata)
  refuseInvalid(rest, object.metadata.name, [
    ...metaErrors(object.metadata, resource.isNamespaced),
    ...(old === undefined ? [] : metaUpdateErrors(object.metadata, old.metadata)),
    ...errors,
    ...(resource.scale === undefined ? [] : scaleErrors(object, resource.scale, rest.subresource === 'status')),
    ...(errors.length === 0 ? (strategy.validate?.(object, old) ?? []) : []),
  ])
  // As upstream, writes of a status are not warned of what they cannot change.
  const ofFinalizers = rest.subresource === 'status' ? [] : finalizerWarnings(object.metadata, old?.metadata)
  for (const text of [...ofFinalizers, ...(strategy.warnings?.(object, old) ?? [])]) rest.warnOnce(text)
  strategy.canonicalize?.(object)
}

/** @throws StatusError 422 when something is wrong with an object */
export function refuseInvalid(rest: RestRequest, name: string, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject({ group: rest.resource.group, kind: rest.resource.kind, name }, errors)
}
