import { respond } from '../../http/respond.ts'
import { type ApiExchange, apiExchangeOf } from '../api-exchange.ts'
import { sendStatus } from '../status.ts'
import type { ApiHandler } from './path-mux.ts'

/**
 * Says which version is served, to GET alone.
 * @see kubernetes/apiserver pkg/server/routes/version.go
 */
export function versionPage(version: Readonly<Record<string, string>>): ApiHandler {
  const body = JSON.stringify(version, null, 2)
  return (request, response) => {
    if (request.method === 'GET') return respond(response, { status: 200, headers: { 'Content-Type': 'application/json' }, body })
    return sendStatus(apiExchangeOf(request) as ApiExchange, {
      message: 'the server does not allow this method on the requested resource',
      reason: 'MethodNotAllowed',
      details: {},
      code: 405,
    })
  }
}
