import type { ApiExchange } from '../api-exchange.ts'
import { OTHER, queryValue } from '../engine.ts'
import { asksToWatch, type RequestInfo } from '../request/request-info.ts'

/** The verbs that are said; a client may send any word as its method. */
const VERBS: ReadonlySet<string> = new Set([
  'APPLY',
  'CONNECT',
  'CREATE',
  'DELETE',
  'DELETECOLLECTION',
  'GET',
  'LIST',
  'PATCH',
  'POST',
  'PROXY',
  'PUT',
  'UPDATE',
  'WATCH',
  'WATCHLIST',
])
const CONNECTING: ReadonlySet<string> = new Set(['log', 'exec', 'portforward', 'attach', 'proxy'])

/**
 * What a request does, by its method: reads of several objects are lists, what asks to watch is a
 * watch, of one object and of a path as well, and what no API has is `other`.
 * @see kubernetes/apiserver pkg/endpoints/metrics/metrics.go cleanVerb, CanonicalVerb
 */
export function verbOf({ info, request }: Pick<ApiExchange, 'info' | 'request'>, scope: string): string {
  const { method = 'GET', url = '/', headers } = request
  if (info.isResourceRequest && CONNECTING.has(info.subresource)) return 'CONNECT'
  if (info.verb === 'watch' && info.isResourceRequest) return 'WATCH'
  if (method === 'GET' && url.includes('?') && asksToWatch(url)) return 'WATCH'
  if (method === 'GET' || method === 'HEAD') return scope === 'resource' || scope === '' ? 'GET' : 'LIST'
  if (method === 'PATCH' && headers['content-type'] === 'application/apply-patch+yaml') return 'APPLY'
  return VERBS.has(method) ? method : OTHER
}

/**
 * How much of the API a request is about.
 * @see kubernetes/apiserver pkg/endpoints/metrics/metrics.go CleanScope
 */
export function scopeOf({ name, verb, namespace, isResourceRequest }: RequestInfo): string {
  if (name !== '' || verb === 'create') return 'resource'
  if (namespace !== '') return 'namespace'
  return isResourceRequest ? 'cluster' : ''
}

/**
 * What a request asks to leave undone: `All`, which is all that there is, or `invalid`.
 * @see kubernetes/apiserver pkg/endpoints/metrics/metrics.go cleanDryRun
 */
export function dryRunOf(url: string): string {
  if (!url.includes('dryRun')) return ''
  const given = queryValue(url, 'dryRun')
  return given === '' || given === 'All' ? given : 'invalid'
}

/**
 * Users by kind: a name is neither bounded nor for everyone to read.
 * @see kubernetes/apiserver pkg/endpoints/filters/metrics.go compressUsername
 */
export function usernameLabel(username: string): string {
  if (KNOWN_USERS.has(username)) return username
  return username.includes('@') ? 'email_id' : OTHER
}

const KNOWN_USERS: ReadonlySet<string> = new Set(['admin', 'client', 'kube_proxy', 'kubelet', 'system:serviceaccount:kube-system:default'])
