import type { ApiObject } from '../api-object.ts'
import type { FieldError } from '../field-errors.ts'

/**
 * What becomes of objects that are owned by one that is deleted, where the request does not say so:
 * they are deleted behind it, or they stay. With `Unsupported` a request cannot say anything.
 * @see kubernetes/apiserver pkg/registry/rest/delete.go GarbageCollectionPolicy
 */
export type GarbageCollectionPolicy = 'DeleteDependents' | 'OrphanDependents' | 'Unsupported'

/**
 * What a kind does by itself when its objects are written. The objects that it is given are the
 * request's own, and may be changed; the old one is the stored one, and may not. To the compiler
 * they are methods, so that a kind whose objects have a type is one like others.
 * @see kubernetes/apiserver pkg/registry/rest/create.go RESTCreateStrategy, update.go
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /** Prepares an object before it is validated: what clients cannot set is taken away. */
  prepareForCreate?(object: T): void
  prepareForUpdate?(object: T, old: T): void
  /**
   * Changes an object that stays for a while after it was deleted, until its finalizers are gone:
   * its status may say so.
   */
  prepareForDelete?(object: T): void
  /** What the schema cannot say; without an old object it is created. */
  validate?(object: T, old: T | undefined): readonly FieldError[]
  /** What clients are warned of. */
  warnings?(object: T, old: T | undefined): readonly string[]
  /** The last before it is stored: one form for what can be said in several ways. */
  canonicalize?(object: T): void
  /** Whether a PUT needs no `resourceVersion`. Default true. */
  readonly allowsUnconditionalUpdate?: boolean
  /**
   * What becomes of what its objects own, once a garbage collector looks after the kind. Default
   * `DeleteDependents`.
   */
  readonly garbageCollectionPolicy?: GarbageCollectionPolicy
}

export const STRATEGY_FIELDS: readonly (keyof Strategy)[] = [
  'prepareForCreate',
  'prepareForUpdate',
  'prepareForDelete',
  'validate',
  'warnings',
  'canonicalize',
  'allowsUnconditionalUpdate',
  'garbageCollectionPolicy',
]
