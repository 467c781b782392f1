import type { UserInfo } from '../authentication/user.ts'
import { queryValue } from '../engine.ts'
import { otherReadingsOf, type Targeted } from '../readings.ts'
import type { RequestInfo } from '../request/request-info.ts'
import type { AuthorizationAttributes } from './authorizer.ts'
import { parseFieldSelector, parseLabelSelector } from './selectors.ts'

/** The part of a request on its way that is decided about. */
export interface AuthorizableRequest extends Targeted {
  readonly user: UserInfo | undefined
}

/**
 * What a request asks for. Nearly always that is one thing. A target that another reader, such as
 * the application behind the server, may take for another path asks for what each of them reads:
 * all of that has to be allowed (V40).
 * @see kubernetes/apiserver pkg/endpoints/filters/authorization.go GetAuthorizerAttributes
 */
export function attributesOf(asked: AuthorizableRequest): readonly AuthorizationAttributes[] {
  const { user, info, request } = asked
  const { url = '/' } = request
  const first = attributesFrom(user, info, url)
  const others = otherReadingsOf(asked)
  return others.length === 0 ? [first] : [first, ...others.map((each) => attributesFrom(user, each, url))]
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
