import type { IncomingMessage, ServerResponse } from 'node:http'
import { pathOf } from '../engine.ts'
import { firstHeader } from '../first-header.ts'
import { sendStatus } from '../status.ts'
import type { ApiHandler } from './path-mux.ts'

interface RestRoute {
  /** The root of the route, to which everything below it belongs: what is below is not found. */
  readonly root: string
  /** Types of answers, as the refusal of others names them. */
  readonly produces: readonly string[]
  readonly get: ApiHandler
}

/**
 * What is refused before any handler is asked, as a Status.
 * @see kubernetes/apiserver pkg/server/handler.go serviceErrorHandler
 */
export class RouteRefusals {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request
    this.#response = response
  }

  notFound(): void {
    this.#send(404, 'NotFound', 'the server could not find the requested resource')
  }

  methodNotAllowed(): void {
    this.#send(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource')
  }

  unsupportedMediaType(): void {
    this.#send(415, 'UnsupportedMediaType', '415: Unsupported Media Type')
  }

  /** Whether it has refused it: the client takes none of the types. */
  notAcceptable(produces: readonly string[]): boolean {
    const accept = firstHeader(this.#request, 'accept')
    if (accept === '' || typesOf(accept).some((type) => type === '*/*' || produces.includes(type))) return false
    this.#send(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`)
    return true
  }

  #send(code: number, reason: string, message: string): void {
    sendStatus({ request: this.#request, response: this.#response }, { message, reason, details: {}, code })
  }
}

/**
 * One path that can be read and nothing else: other paths below it, methods and types are refused.
 */
export function restRoute({ root, produces, get }: RestRoute): ApiHandler {
  return (request, response) => {
    const refusals = new RouteRefusals(request, response)
    if (segmentsOf(pathOf(request.url ?? '/')) !== segmentsOf(root)) return refusals.notFound()
    if (request.method !== 'GET') return refusals.methodNotAllowed()
    const contentType = firstHeader(request, 'content-type')
    if (contentType !== '' && !typesOf(contentType).some((type) => produces.includes(type))) return refusals.unsupportedMediaType()
    return refusals.notAcceptable(produces) ? undefined : get(request, response)
  }
}

/**
 * The types of a header without parameters, and so without quality: what is wanted most is not the
 * question here.
 */
const typesOf = (header: string): readonly string[] => header.split(',').map((clause) => (clause.split(';')[0] as string).trim())

/** Empty segments do not count. */
const segmentsOf = (path: string): string =>
  path
    .split('/')
    .filter((segment) => segment !== '')
    .join('/')
