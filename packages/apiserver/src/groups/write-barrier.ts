import type { UserInfo } from '../authentication/user.ts'

/** A write of an object that is kept, before it is done. */
export interface AttemptedWrite {
  readonly verb: string
  readonly group: string
  /** The plural. */
  readonly resource: string
  /** The version in which it would be stored, as `demo.example/v1`. */
  readonly encodingVersion: string
  /** Empty at the scope of the cluster. */
  readonly namespace: string
  /** Empty for an object whose name is in the body, and for a collection. */
  readonly name: string
  /** Undefined on a server that does not authenticate. */
  readonly user: UserInfo | undefined
}

/** Why a write has to be tried later; undefined: it need not. */
export type WriteBarrier = (write: AttemptedWrite) => string | undefined
