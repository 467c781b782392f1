import { pathOf, queryTexts } from '../engine.ts'

/**
 * What a request is about in the terms of the Kubernetes API: derived from method and URL alone, so
 * that every filter, and every instance behind a load balancer, sees the same.
 */
export interface RequestInfo {
  /**
   * The verb: `get`, `list`, `watch`, `create`, … for a resource request; otherwise the HTTP method
   * in lower case.
   */
  readonly verb: string
  readonly isResourceRequest: boolean
  /** The URL's path, percent-decoded. */
  readonly path: string
  /**
   * `api` or `apis` where the path begins with one and goes on; else empty, as are all fields
   * below.
   */
  readonly apiPrefix: string
  /** Empty under `/api`, the legacy group. */
  readonly apiGroup: string
  readonly apiVersion: string
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  readonly name: string
  /** The path from the resource on: `[resource, name, subresource, …]`. */
  readonly parts: readonly string[]
}

const API_PREFIXES = new Set(['api', 'apis'])
/** Below these there is no group: `/api/v1`, but `/apis/apps/v1`. */
const GROUPLESS_API_PREFIXES = new Set(['api'])
/** Verbs that old clients write into the path, in front of the resource. */
const PATH_VERBS = new Set(['proxy', 'watch'])
/** What follows a proxied object's name belongs to the object, not to us. */
const VERBS_WITHOUT_SUBRESOURCE = new Set(['proxy'])
/** What may follow `/namespaces/NAME` without being a resource inside that namespace. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize'])

const VERB_OF_METHOD: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
])

/**
 * Classifies a request. Total: every method and URL has an answer, the same for the same input, and
 * nothing is thrown. `/api/v1/watch` with no resource after it is a resource request without parts.
 * A name that only a field selector implies (`?fieldSelector=metadata.name=a`) is not filled in.
 *
 * @see kubernetes/apiserver pkg/endpoints/request/requestinfo.go NewRequestInfo
 */
export function requestInfo(method: string, url: string): RequestInfo {
  const path = pathOf(url)
  const methodVerb = LOWER_CASE.get(method) ?? method.toLowerCase()
  if (!path.includes('api')) return info(methodVerb, path)
  const segments = split(path)
  const prefix = segments[0]
  if (prefix === undefined || segments.length < 3 || !API_PREFIXES.has(prefix)) return info(methodVerb, path)

  const hasGroup = !GROUPLESS_API_PREFIXES.has(prefix)
  if (hasGroup && segments.length < 4) return info(methodVerb, path, prefix)
  const [apiGroup = '', apiVersion = '', ...rest] = hasGroup ? segments.slice(1) : ['', ...segments.slice(1)]

  const pathVerb = PATH_VERBS.has(rest[0] as string) ? rest.shift() : undefined
  if (rest.length === 0) return info(methodVerb, path, prefix, { apiGroup, apiVersion })
  const { namespace, parts } = insideNamespace(rest)
  const [resource = '', name = ''] = parts
  const verb = pathVerb ?? resourceVerb(method, name, url)
  const subresource = VERBS_WITHOUT_SUBRESOURCE.has(verb) ? '' : (parts[2] ?? '')
  return info(verb, path, prefix, { apiGroup, apiVersion, namespace, resource, name, subresource, parts })
}

const LOWER_CASE: ReadonlyMap<string, string> = new Map(
  ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].map((method) => [method, method.toLowerCase()]),
)

/**
 * The info, always with the same fields in the same order, and nothing copied: every request has
 * one.
 */
function info(verb: string, path: string, apiPrefix = '', resource?: Partial<RequestInfo>): RequestInfo {
  return {
    verb,
    isResourceRequest: resource !== undefined,
    path,
    apiPrefix,
    apiGroup: resource?.apiGroup ?? '',
    apiVersion: resource?.apiVersion ?? '',
    namespace: resource?.namespace ?? '',
    resource: resource?.resource ?? '',
    subresource: resource?.subresource ?? '',
    name: resource?.name ?? '',
    parts: resource?.parts ?? NO_PARTS,
  }
}

const NO_PARTS: readonly string[] = []

/**
 * `/namespaces/N/pods/P` is about the pod; `/namespaces/N` and `/namespaces/N/status` are about the
 * namespace.
 */
function insideNamespace(rest: readonly string[]): { namespace: string; parts: readonly string[] } {
  const [resource, namespace = '', inside] = rest
  if (resource !== 'namespaces') return { namespace: '', parts: rest }
  return { namespace, parts: inside === undefined || NAMESPACE_SUBRESOURCES.has(inside) ? rest : rest.slice(2) }
}

function resourceVerb(method: string, name: string, url: string): string {
  const verb = VERB_OF_METHOD.get(method) ?? ''
  if (name !== '') return verb
  if (verb === 'get') return asksToWatch(url) ? 'watch' : 'list'
  return verb === 'delete' ? 'deletecollection' : verb
}

/** The parameter's presence is enough; only `0` and `false` deny it. The first one counts. */
export function asksToWatch(url: string): boolean {
  const [value] = queryTexts(url, 'watch')
  return value !== undefined && value !== '0' && value.toLowerCase() !== 'false'
}

/**
 * Surrounding slashes do not count; empty segments inside do. No regular expression: a run of
 * slashes makes one quadratic.
 */
function split(path: string): string[] {
  let start = 0
  let end = path.length
  while (path[start] === '/') start++
  while (end > start && path[end - 1] === '/') end--
  return start === end ? [] : path.slice(start, end).split('/')
}
