import { prettyJson } from '../encoding/json.ts'
import { respond } from '../engine.ts'
import type { ApiHandler } from './path-mux.ts'
import { restRoute } from './rest-route.ts'

/**
 * Says which version is served.
 * @see kubernetes/apiserver pkg/server/routes/version.go
 */
export function versionPage(version: Readonly<Record<string, string>>): ApiHandler {
  const answer = { status: 200, headers: { 'Content-Type': 'application/json' }, body: prettyJson(version) }
  return restRoute({ root: '/version', produces: ['application/json'], get: (_request, response) => respond(response, answer) })
}
