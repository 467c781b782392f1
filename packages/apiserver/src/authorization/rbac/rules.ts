import type { AuthorizationAttributes } from '../authorizer.ts'
import type { RbacRule } from './objects.ts'

/** Whether a rule allows what is asked for. */
export type Matcher = (asked: AuthorizationAttributes) => boolean

const EVERYTHING = '*'

/**
 * A rule as a function, with what can be looked up in a set looked up.
 * @see kubernetes/kubernetes plugin/pkg/auth/authorizer/rbac/rbac.go RuleAllows
 */
export function matcherOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: RbacRule): Matcher {
  const isVerb = oneOf(verbs)
  const isGroup = oneOf(apiGroups)
  const isResource = resourceMatcher(resources ?? [])
  const isName = (resourceNames ?? []).length === 0 ? () => true : oneOf(resourceNames, 'as they are')
  const isPath = pathMatcher(nonResourceURLs ?? [])
  return (asked) => {
    if (!isVerb(asked.verb)) return false
    return asked.isResourceRequest ? isGroup(asked.apiGroup) && isResource(asked) && isName(asked.name) : isPath(asked.path)
  }
}

function oneOf(given: readonly string[] | undefined | null, star: 'is all' | 'as they are' = 'is all'): (text: string) => boolean {
  const texts = new Set(given)
  return star === 'is all' && texts.has(EVERYTHING) ? () => true : (text) => texts.has(text)
}

/** A resource alone is not its subresources: `pods` lets no one read `pods/log`. */
function resourceMatcher(resources: readonly string[]): Matcher {
  const texts = new Set(resources)
  if (texts.has(EVERYTHING)) return () => true
  return ({ resource, subresource }) =>
    subresource === '' ? texts.has(resource) : texts.has(`${resource}/${subresource}`) || texts.has(`*/${subresource}`)
}

function pathMatcher(urls: readonly string[]): (path: string) => boolean {
  const exact = new Set(urls)
  const prefixes = urls.filter((url) => url.endsWith('*')).map((url) => url.slice(0, -1))
  return (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}
