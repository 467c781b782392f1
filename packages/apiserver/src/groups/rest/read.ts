import { badRequest, expired, notFound, StatusError, tooLargeResourceVersion } from '../../status-errors.ts'
import { type ApiObject, keyText } from '../api-object.ts'
import { decodeContinue, encodeContinue } from '../storage/continue-token.ts'
import type { Page, Storage } from '../storage/storage.ts'
import { askedVersion, type ListOptions, listOptions } from './options.ts'
import { listAs, negotiateOutput, type ObjectList, objectAs, send } from './output.ts'
import type { RestRequest } from './rest-request.ts'

/** The object that a request names. @throws StatusError 404 */
export async function storedObject(rest: RestRequest): Promise<ApiObject> {
  const object = await rest.storage.get(rest.key)
  if (object === undefined) throw notFound(rest.qualified, rest.key.name)
  return object
}

/** @see kubernetes/apiserver pkg/endpoints/handlers/get.go GetResource */
export async function getObject(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'one')
  const version = askedVersion(rest)
  if (version !== '') await waitForVersion(rest, version)
  return send(rest, output, 200, objectAs(rest, output, await storedObject(rest)))
}

/** Behind every name in the order of ASCII. */
const BEHIND_ALL = '\x7f'

/**
 * Waits until the storage has come to a version, as far as it knows of versions without an object.
 * @throws StatusError 504 for one that does not come
 */
async function waitForVersion(rest: RestRequest, version: string): Promise<void> {
  const { list } = rest.storage as Storage
  if (list === undefined) return
  const { namespace } = rest
  // The list begins behind the last object, so the storage reads none to make it.
  const start = keyText({ namespace, name: BEHIND_ALL })
  const page = await list({ namespace, start, matches: () => false, limit: 1, at: undefined, notOlderThan: version })
  refuseTooLarge(version, page)
}

function refuseTooLarge(asked: string, { resourceVersion }: Page): void {
  if (BigInt(asked) > BigInt(resourceVersion)) throw tooLargeResourceVersion(asked, resourceVersion)
}

/** @see kubernetes/apiserver pkg/endpoints/handlers/get.go ListResource */
export async function listObjects(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'list')
  const options = listOptions(rest, false)
  return send(rest, output, 200, listAs(rest, output, await objectList(rest, options)))
}

const TOO_OLD_TOKEN =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

/** What is asked for, a page of it where that is asked for. */
export async function objectList(rest: RestRequest, options: ListOptions): Promise<ObjectList> {
  const page = await pageOf(rest, options)
  const at = page.resourceVersion
  const { next, remaining } = page
  return {
    kind: rest.resource.listKind,
    apiVersion: rest.resource.apiVersion,
    metadata: {
      resourceVersion: at,
      ...(next !== undefined && { continue: encodeContinue({ at, start: next }) }),
      ...(next !== undefined && remaining !== undefined && !options.hasSelector && { remainingItemCount: remaining }),
    },
    items: page.items,
  }
}

async function pageOf(rest: RestRequest, options: ListOptions): Promise<Page> {
  const { labels, fields, limit, continueToken, resourceVersion, isAtHand, match } = options
  const token = continueToken === '' ? undefined : decodeContinue(continueToken)
  if (token !== undefined && rest.namespace !== '' && !token.start.startsWith(`${rest.namespace}/`))
    throw badRequest('continue key is not valid: it is one of another namespace')
  const isExact = resourceVersion !== '' && (match === 'Exact' || (match === '' && limit !== undefined))
  const at = token === undefined ? (isExact ? resourceVersion : undefined) : token.at
  try {
    const page = await rest.storage.list({
      namespace: rest.namespace,
      matches: (object) => labels(object.metadata.labels) && fields.matches(object),
      limit,
      at,
      start: token?.start ?? '',
      ...(at === undefined && resourceVersion !== '' && { notOlderThan: resourceVersion }),
      ...(token === undefined && isAtHand && { notOlderThan: '0' }),
    })
    if (at === undefined && resourceVersion !== '') refuseTooLarge(resourceVersion, page)
    return page
  } catch (thrown) {
    // The rest can be had, though not as it was: a client decides whether that will do.
    if (token?.at !== undefined && thrown instanceof StatusError && thrown.failure.code === 410)
      throw expired(TOO_OLD_TOKEN, encodeContinue({ at: undefined, start: token.start }))
    throw thrown
  }
}
