import { labelProblems, subdomainProblems } from '../names.ts'

export const isSubdomain = (text: string): boolean => subdomainProblems(text).length === 0

interface ServiceAccount {
  readonly namespace: string
  readonly name: string
}

/**
 * The parts of `system:serviceaccount:NAMESPACE:NAME`; undefined for any other user.
 * @see kubernetes/apiserver pkg/authentication/serviceaccount/util.go SplitUsername
 */
export function serviceAccountOf(user: string): ServiceAccount | undefined {
  const [, namespace = '', name = ''] = /^system:serviceaccount:([^:]*):([^:]*)$/.exec(user) ?? []
  return labelProblems(namespace).length === 0 && isSubdomain(name) ? { namespace, name } : undefined
}

/** @see kubernetes/apiserver pkg/authentication/serviceaccount/util.go MakeGroupNames */
export const groupsOf = ({ namespace }: ServiceAccount): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
]

/** The node of `system:node:NAME`; undefined for any other user. */
export function nodeOf(user: string): string | undefined {
  const [, name = ''] = /^system:node:(.*)$/s.exec(user) ?? []
  return isSubdomain(name) ? name : undefined
}
