import { pathOf } from '../../http/request-info.ts'
import { firstHeader } from '../first-header.ts'
import { sendStatus } from '../status.ts'
import type { ApiHandler } from './path-mux.ts'

interface RestRoute {
  /** It and everything below it is this route's: what is below is not found. */
  readonly root: string
  /** Types of answers, as the refusal of others names them. */
  readonly produces: readonly string[]
  readonly get: ApiHandler
}

/**
 * One path that can be read and nothing else. What it refuses is a Status: other paths below it,
 * methods, types of bodies and of answers.
 * @see kubernetes/apiserver pkg/server/handler.go serviceErrorHandler
 */
export function restRoute({ root, produces, get }: RestRoute): ApiHandler {
  const available = produces.join(', ')
  return (request, response) => {
    const refuse = (code: number, reason: string, message: string): void =>
      sendStatus({ request, response }, { message, reason, details: {}, code })
    if (segmentsOf(pathOf(request.url ?? '/')) !== segmentsOf(root))
      return refuse(404, 'NotFound', 'the server could not find the requested resource')
    if (request.method !== 'GET') return refuse(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource')
    const contentType = firstHeader(request, 'content-type')
    if (contentType !== '' && !typesOf(contentType).some((type) => produces.includes(type)))
      return refuse(415, 'UnsupportedMediaType', '415: Unsupported Media Type')
    const accept = firstHeader(request, 'accept')
    if (accept !== '' && !typesOf(accept).some((type) => type === '*/*' || produces.includes(type)))
      return refuse(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${available}`)
    return get(request, response)
  }
}

/** Without parameters, and so without quality: what is wanted most is not the question here. */
const typesOf = (header: string): readonly string[] => header.split(',').map((clause) => (clause.split(';')[0] as string).trim())

/** Empty segments do not count. */
const segmentsOf = (path: string): string =>
  path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')
