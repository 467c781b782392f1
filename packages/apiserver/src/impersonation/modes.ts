import type { UserInfo } from '../authentication/user.ts'
import { nodeOf, serviceAccountOf } from './user-names.ts'
import type { WantedUser } from './wanted-user.ts'

/** A way in which a user may be allowed to act as another one, with a verb of its own. */
export interface ImpersonationMode {
  /** Undefined: the older way, which allows everything that the other one may do. */
  readonly name: string | undefined
  /** Whether it is for these two at all. */
  readonly isFor: (wanted: WantedUser, requestor: UserInfo) => boolean
}

/** The field in the tokens of its service account by which a pod says on which node it runs. */
const NODE_NAME = 'authentication.kubernetes.io/node-name'

const isNameOnly = ({ uid, groups, extra }: WantedUser): boolean => uid === '' && groups.length === 0 && Object.keys(extra).length === 0

/** A service account that acts as the node which it runs on. */
export const ASSOCIATED_NODE = 'associated-node'

/**
 * The modes in the order in which they are tried; the first that allows it counts.
 * @see kubernetes/apiserver pkg/endpoints/filters/impersonation/mode.go allImpersonationModes
 */
export const MODES: readonly ImpersonationMode[] = [
  {
    name: ASSOCIATED_NODE,
    isFor: (wanted, requestor) => {
      const node = nodeOf(wanted.name)
      const [runsOn, ...others] = requestor.extra[NODE_NAME] ?? []
      const isOnIt = node !== undefined && runsOn === node && others.length === 0
      return isNameOnly(wanted) && isOnIt && serviceAccountOf(requestor.name) !== undefined
    },
  },
  { name: 'arbitrary-node', isFor: (wanted) => isNameOnly(wanted) && nodeOf(wanted.name) !== undefined },
  { name: 'serviceaccount', isFor: (wanted) => isNameOnly(wanted) && serviceAccountOf(wanted.name) !== undefined },
  { name: 'user-info', isFor: ({ name }) => nodeOf(name) === undefined && serviceAccountOf(name) === undefined },
  { name: undefined, isFor: () => true },
]
