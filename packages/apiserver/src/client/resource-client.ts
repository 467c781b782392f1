import type { Observable } from 'rxjs/internal/Observable'
import type { ApiObject, ObjectKey } from '../groups/api-object.ts'

/** All objects of one kind that a client looks at, as they were at one version. */
export interface Snapshot<T extends ApiObject = ApiObject> {
  readonly items: readonly T[]
  readonly resourceVersion: string
}

/** A change of one object, or only how far its watch has come. */
export type ClientEvent<T extends ApiObject = ApiObject> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }

/**
 * What an informer needs of a client: everything that there is, and every change behind that. Both
 * reject, or end in an error, with a StatusError where the server has answered with a failure.
 */
export interface ListWatch<T extends ApiObject = ApiObject> {
  /** The name for logs and errors: `coordination.k8s.io/v1/leases`. */
  readonly name: string
  list(options: { readonly signal: AbortSignal }): Promise<Snapshot<T>>
  /**
   * Subscribed to, it gives every change behind a version, in order. It completes when the server
   * ends the watch, and can be watched again then, behind the last version that was seen. In an
   * error of the code 410 the version is too old, and everything has to be listed again.
   */
  watch(after: string): Observable<ClientEvent<T>>
}

/** What may be said about a deletion. */
export interface DeleteChoices {
  /** The uid that it must have to be deleted, or else the call rejects with a conflict (409). */
  readonly uid?: string | undefined
  /** The same of its version. */
  readonly resourceVersion?: string | undefined
  /** What becomes of the objects that it owns. Default: what the server does by itself. */
  readonly propagationPolicy?: 'Foreground' | 'Background' | 'Orphan'
}

/**
 * A client of the objects of one kind. Every call rejects with a StatusError where the server
 * answers with a failure: 404 for an object that is gone, 409 for a name that is taken or a version
 * that is not the stored one.
 */
export interface ResourceClient<T extends ApiObject = ApiObject> extends ListWatch<T> {
  /** The object; undefined: there is none. */
  get(key: ObjectKey, options?: CallOptions): Promise<T | undefined>
  create(object: T, options?: CallOptions): Promise<T>
  /** Puts an object in the place of the stored one, which has to be of the same version. */
  update(object: T, options?: UpdateCallOptions): Promise<T>
  delete(key: ObjectKey, choices?: DeleteChoices, options?: CallOptions): Promise<void>
}

/** A client that can delete several objects at a time. */
export interface CollectionClient<T extends ApiObject = ApiObject> extends ResourceClient<T> {
  /** Deletes all objects that the client looks at. */
  deleteAll(choices?: Pick<DeleteChoices, 'propagationPolicy'>, options?: CallOptions): Promise<void>
}

export interface UpdateCallOptions extends CallOptions {
  /** The part of the object that is put in place, and nothing else is. Default: all but these. */
  readonly subresource?: 'status' | 'finalize' | undefined
}

/** The options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}
