/** The part of an object's metadata that servers know. */
export interface ObjectMeta {
  name: string
  generateName?: string
  namespace?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: readonly OwnerReference[]
  finalizers?: readonly string[]
}

export interface OwnerReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly uid: string
  readonly controller?: boolean
  readonly blockOwnerDeletion?: boolean
}

/** An object of the API, with fields of its own. */
export interface ApiObject {
  kind: string
  apiVersion: string
  metadata: ObjectMeta
  [field: string]: unknown
}

/** Where an object is among those of its resource. */
export interface ObjectKey {
  /** Empty for an object of the whole cluster. */
  readonly namespace: string
  readonly name: string
}

/** The key as one text, in whose order objects are listed. */
export const keyText = ({ namespace, name }: ObjectKey): string => (namespace === '' ? name : `${namespace}/${name}`)

export const keyOf = ({ metadata }: ApiObject): ObjectKey => ({ namespace: metadata.namespace ?? '', name: metadata.name })

export type Fields = Record<string, unknown>

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Sets a field whatever its name is: `__proto__` is one like others in JSON. */
export function setField(target: Fields, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  else target[name] = value
}

/** Its own, and no other's. */
export const fieldOf = (target: Fields, name: string): unknown => (Object.hasOwn(target, name) ? target[name] : undefined)

/** Whether two values are the same JSON, whatever the order of their fields. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((each, index) => isSameJson(each, (b as readonly unknown[])[index]))
  if (!isFields(a) || !isFields(b)) return false
  const names = Object.keys(a).filter((name) => a[name] !== undefined)
  return (
    names.length === Object.keys(b).filter((name) => b[name] !== undefined).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
  )
}
