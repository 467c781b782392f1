import type { Authorizer } from '../authorizer.ts'
import type { RbacObject } from './objects.ts'
import { rbacPolicy } from './policy.ts'

/**
 * Allows what roles and their bindings allow, in the shape of Kubernetes' own. Of all else it has
 * no opinion; nothing is denied.
 * @throws QuiesceError ERR_OPTION_INVALID with a line for everything that is wrong
 * @example
 * rbac(
 *   {
 *     apiVersion: 'rbac.authorization.k8s.io/v1',
 *     kind: 'ClusterRole',
 *     metadata: { name: 'reader' },
 *     rules: [{ verbs: ['get'], nonResourceURLs: ['/reports/*'] }],
 *   },
 *   {
 *     apiVersion: 'rbac.authorization.k8s.io/v1',
 *     kind: 'ClusterRoleBinding',
 *     metadata: { name: 'readers' },
 *     roleRef: { kind: 'ClusterRole', name: 'reader' },
 *     subjects: [{ kind: 'Group', name: 'system:authenticated' }],
 *   },
 * )
 */
export function rbac(...objects: readonly RbacObject[]): Authorizer {
  const policy = rbacPolicy(objects)
  return { authorize: policy.decide, rulesFor: policy.rulesFor }
}
