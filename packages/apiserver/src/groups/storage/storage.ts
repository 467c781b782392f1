import type { UserInfo } from '../../authentication/user.ts'
import type { Authorizer } from '../../authorization/authorizer.ts'
import type { StatusError } from '../../status-errors.ts'
import type { Store } from '../../store/store.ts'
import type { ApiObject, ObjectKey } from '../api-object.ts'

export type MaybePromise<T> = T | PromiseLike<T>

/**
 * Where the objects of one resource are kept. What it can do is what clients can: a storage without
 * `update` has neither PUT nor PATCH, and discovery does not name them. All of it may take time.
 *
 * Every write gives the object a new `metadata.resourceVersion`: a decimal number that grows over
 * all resources of the storage. Objects that were given away are never changed, neither by the
 * storage nor by the server.
 * @see kubernetes/apiserver pkg/registry/rest/rest.go, pkg/storage/interfaces.go
 */
export interface Storage {
  /** Undefined: there is none. */
  get?(key: ObjectKey): MaybePromise<ApiObject | undefined>
  /**
   * Lists objects in the order of namespace and name.
   * @throws StatusError `expired()` for a revision that is no longer known
   */
  list?(query: ListQuery): MaybePromise<Page>
  /** Undefined: its key is taken, and nothing was changed. */
  create?(object: ApiObject): MaybePromise<ApiObject | undefined>
  /** Undefined: what is stored is not of the version `expected`, and nothing was changed. */
  update?(object: ApiObject, expected: string): MaybePromise<ApiObject | undefined>
  /** The object as it was last, with the version of its deletion; undefined as for `update`. */
  delete?(key: ObjectKey, expected: string): MaybePromise<ApiObject | undefined>
  /**
   * Gives every change after a version, in order and without a gap, to a listener that takes no
   * time and does not throw.
   * @param ended called when nothing more comes, though the watch was not closed: clients are told,
   * and watch or list again
   * @param concerns says by namespace and name which objects the listener wants: changes of others
   * may be left out
   * @throws StatusError `expired()` for a version behind which not all changes are known
   */
  watch?(
    after: string,
    listener: (event: StorageEvent) => void,
    ended: (why: StatusError) => void,
    concerns?: (object: ApiObject) => boolean,
  ): MaybePromise<StorageWatch>
  /**
   * Answers an object that is a question, and is kept nowhere: `create` of a kind that has neither
   * names nor anything else that can be done with it.
   */
  review?(object: ApiObject, context: ReviewContext): MaybePromise<{ readonly status: object }>
  /**
   * Whether it can be used: it throws or rejects, or says `false`, as long as it cannot. The
   * readiness of the server waits for it.
   */
  ready?(context: { readonly signal: AbortSignal }): unknown
  /**
   * Destroys the storage when the server ends, once nothing is written any more; a second time is
   * nothing.
   */
  destroy?(): unknown
  /** What its objects are kept in, which has a life of its own; several may have the same. */
  readonly store?: Store
}

/** The context of the request that asks. */
export interface ReviewContext {
  /** Undefined on a server that does not authenticate. */
  readonly user: UserInfo | undefined
  /** What has let the request pass; undefined: everything is allowed. */
  readonly authorizer: Authorizer | undefined
  readonly signal: AbortSignal
}

export interface ListQuery {
  /** Empty: of all namespaces. */
  readonly namespace: string
  /** Which objects; the others are as if they were not there. */
  readonly matches: (object: ApiObject) => boolean
  /** How many at most; undefined: all. */
  readonly limit: number | undefined
  /** The version at which it is; undefined: the newest. */
  readonly at: string | undefined
  /**
   * The revision that it has to have reached at least, with `at` undefined; `0`: whatever the
   * storage has at hand. Left out: behind everything that was answered before.
   */
  readonly notOlderThan?: string | undefined
  /** The key, as `namespace/name`, at which it begins; empty: the first. */
  readonly start: string
}

export interface Page {
  readonly items: readonly ApiObject[]
  /** The version at which it was made. */
  readonly resourceVersion: string
  /** The key at which the next page begins; undefined: there is none. */
  readonly next: string | undefined
  /** How many there are behind this page; undefined where that is not known. */
  readonly remaining?: number | undefined
}

export interface StorageEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  /**
   * The object after the change; one that was deleted as it was last, with the version of its
   * deletion.
   */
  readonly object: ApiObject
  /** The object before the change. */
  readonly previous: ApiObject | undefined
}

export interface StorageWatch {
  /** Every change up to this version was given to the listener. */
  readonly resourceVersion: string
  /** Ends the watch: nothing more is given. */
  close(): void
}

const ABILITIES = ['get', 'list', 'create', 'update', 'delete', 'watch', 'review'] as const

/** Verbs of the API that a storage has, sorted, as discovery names them. */
export function verbsOf(storage: Storage): readonly string[] {
  const can = Object.fromEntries(ABILITIES.map((ability) => [ability, typeof storage[ability] === 'function'])) as Record<
    (typeof ABILITIES)[number],
    boolean
  >
  const verbs = [
    (can.create || can.review) && 'create',
    can.delete && can.get && 'delete',
    can.delete && can.list && 'deletecollection',
    can.get && 'get',
    can.list && 'list',
    can.update && can.get && 'patch',
    can.update && can.get && 'update',
    can.watch && can.list && 'watch',
  ]
  return verbs.filter((verb) => verb !== false)
}
