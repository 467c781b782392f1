import { optionError } from '../engine.ts'
import { type Authorizer, type Decision, NO_OPINION, NO_RULES } from './authorizer.ts'

/** What {@link allowedPaths} takes. */
export const PATHS_ALLOWED = 'a list of paths; * may stand at the end of one'

/** Whether it is one. @see kubernetes/apiserver pkg/authorization/path/path.go NewAuthorizer */
export const isPathPattern = (given: unknown): boolean => typeof given === 'string' && !given.slice(0, -1).includes('*')

const ALLOW: Decision = { decision: 'allow' }

/**
 * Allows some paths to every user, with any method; never a resource. A path stands for itself
 * alone, one that ends in `*` for all that begin so; the first slash may be left out.
 * @throws QuiesceError ERR_OPTION_INVALID for a `*` that is not at the end
 * @see kubernetes/apiserver pkg/authorization/path/path.go NewAuthorizer
 * @example
 * allowedPaths('/healthz', '/livez', '/readyz', '/docs/*')
 */
export function allowedPaths(...paths: readonly string[]): Authorizer {
  for (const path of paths) if (!isPathPattern(path)) throw optionError('allowedPaths', path, PATHS_ALLOWED)
  const patterns = paths.map(withSlash)
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('*')))
  const prefixes = patterns.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1))
  return {
    authorize: ({ isResourceRequest, path }) => {
      if (isResourceRequest) return NO_OPINION
      const asked = withSlash(path)
      return exact.has(asked) || prefixes.some((prefix) => asked.startsWith(prefix)) ? ALLOW : NO_OPINION
    },
    rulesFor: () => (patterns.length === 0 ? NO_RULES : { ...NO_RULES, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: patterns }] }),
  }
}

/** Whether a path is among those that {@link allowedPaths} would allow. */
export const isAllowedPath = (patterns: readonly string[], path: string): boolean =>
  patterns.map(withSlash).some((pattern) => (pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path))

const withSlash = (path: string): string => (path.startsWith('/') ? path : `/${path}`)
