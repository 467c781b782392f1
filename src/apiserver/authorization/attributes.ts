import { type RequestInfo, requestInfo } from '../../http/request-info.ts'
import type { UserInfo } from '../authentication/user.ts'
import { queryValue } from '../query.ts'
import type { AuthorizationAttributes } from './authorizer.ts'
import { parseFieldSelector, parseLabelSelector } from './selectors.ts'

/** As much of a request on its way as is decided about. */
export interface Asked {
  readonly user: UserInfo | undefined
  readonly info: RequestInfo
  readonly request: { readonly method?: string | undefined; readonly url?: string | undefined }
}

/**
 * What a request asks for. Nearly always that is one thing. A target that another reader, such as
 * the application behind the server, may take for another path asks for what each of them reads:
 * all of that has to be allowed (V40).
 * @see kubernetes/apiserver pkg/endpoints/filters/authorization.go GetAuthorizerAttributes
 */
export function attributesOf({ user, info, request: { method = 'GET', url = '/' } }: Asked): readonly AuthorizationAttributes[] {
  const asked = attributesFrom(user, info, url)
  if (!isDoubtful(url)) return [asked]
  const others = otherReadingsOf(pathPartOf(url)).map((path) => requestInfo(method, path + url.slice(pathPartOf(url).length)))
  const all = new Map([info, ...others].map((each) => [each.path, each]))
  return Array.from(all.values(), (each) => (each === info ? asked : attributesFrom(user, each, url)))
}

/** The target is the same for all readings, and so are the selectors in its query. */
function attributesFrom(user: UserInfo | undefined, info: RequestInfo, url: string): AuthorizationAttributes {
  const { verb, isResourceRequest, path, apiGroup, apiVersion, namespace, resource, subresource, name } = info
  const attributes = { user, verb, isResourceRequest, path, apiGroup, apiVersion, namespace, resource, subresource, name }
  if (!url.includes('Selector=') || !SEVERAL.has(verb)) return attributes
  return {
    ...attributes,
    fieldSelector: parseFieldSelector(textValue(url, 'fieldSelector')),
    labelSelector: parseLabelSelector(textValue(url, 'labelSelector')),
  }
}

/** Verbs that are about several objects. */
const SEVERAL = new Set(['list', 'watch', 'deletecollection'])

const textValue = (url: string, name: string): string => Buffer.from(queryValue(url, name), 'latin1').toString()

/**
 * Not a path alone, a segment that is `.` or `..`, a backslash, a fragment, or an escape that may
 * stand for one of these, for a slash, or for another escape.
 */
const DOUBTFUL = /^(?!\/(?!\/))|\/\.{1,2}(?:\/|$)|[\\#]|%(?:2[ef35]|3f|5c)/i

const isDoubtful = (url: string): boolean => DOUBTFUL.test(pathPartOf(url))

function pathPartOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/**
 * What others make of a target: one that does not decode it; one that resolves it as the URL
 * standard does, and that of what is decoded.
 */
function otherReadingsOf(target: string): readonly string[] {
  const resolved = resolve(target)
  return [target.replaceAll('%', '%25'), resolved, resolve(decoded(target)), resolve(decoded(resolved))]
}

const BASE = 'http://host'

const resolve = (target: string): string => (URL.canParse(target, BASE) ? new URL(target, BASE).pathname : target)

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // As it is sent, which is a reading already.
    return text
  }
}
