import type { KeyValue } from '../../store/key-value-store.ts'
import { StoreError } from '../../store/store-error.ts'
import { type ApiObject, isFields } from '../api-object.ts'
import { orderedMeta } from '../object-meta.ts'

/**
 * Objects by the bytes that they are stored as: what this process has written, or has read once, is
 * not read again, and all that speak of one version of an object speak of the same value.
 */
const DECODED = new WeakMap<Uint8Array, ApiObject>()
/** What is on its way to a store, whose revision is not known yet. */
const GIVEN = new WeakMap<Uint8Array, ApiObject>()

const DECODER = new TextDecoder('utf-8', { fatal: true })

/** What is stored of an object: its version is the revision at which it is written. */
export function encodeObject(object: ApiObject): Uint8Array {
  const { resourceVersion: _, ...metadata } = object.metadata
  const value = Buffer.from(JSON.stringify({ ...object, metadata }))
  GIVEN.set(value, object)
  return value
}

/** @throws StoreError damaged */
export function decodeObject({ key, value, modRevision }: Pick<KeyValue, 'key' | 'value' | 'modRevision'>): ApiObject {
  const known = DECODED.get(value)
  if (known !== undefined) return known
  const object = atRevision(GIVEN.get(value) ?? readObject(key, value), modRevision)
  GIVEN.delete(value)
  DECODED.set(value, object)
  return object
}

function readObject(key: string, value: Uint8Array): ApiObject {
  let object: unknown
  try {
    object = JSON.parse(DECODER.decode(value))
  } catch (error) {
    throw new StoreError('damaged', `what is stored as ${key} is not an object`, { place: key }, error)
  }
  if (!isFields(object) || !isFields(object['metadata']))
    throw new StoreError('damaged', `what is stored as ${key} is not an object with metadata`, { place: key })
  return object as ApiObject
}

/** The object with its version, of which nothing can be changed any more. */
export const atRevision = (object: ApiObject, revision: number): ApiObject =>
  frozen({ ...object, metadata: orderedMeta({ ...object.metadata, resourceVersion: String(revision) }) })

/** The whole value, frozen: what a strategy is given as the old object is still the stored one. */
export function frozen<T>(value: T): T {
  if ((isFields(value) || Array.isArray(value)) && !Object.isFrozen(value)) {
    for (const each of Object.values(value)) frozen(each)
    Object.freeze(value)
  }
  return value
}
