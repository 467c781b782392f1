import { prettyJson } from '../encoding/json.ts'
import { respond } from '../engine.ts'
import type { ApiHandler } from './path-mux.ts'

/**
 * Lists the paths that are served; 404 where it stands for what is not found.
 * @see kubernetes/apiserver pkg/server/routes/index.go
 */
export const indexPage =
  (listedPaths: () => readonly string[], status: 200 | 404 = 200): ApiHandler =>
  (_request, response) =>
    respond(response, { status, headers: { 'Content-Type': 'application/json' }, body: prettyJson({ paths: listedPaths() }) })
