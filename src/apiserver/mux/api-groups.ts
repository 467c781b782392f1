import { createHash } from 'node:crypto'
import { safeJson } from '../encoding/json.ts'
import { OBJECT_TYPES, writeObject } from '../encoding/write-object.ts'
import { sendNotAcceptable } from '../status.ts'
import type { ApiHandler } from './path-mux.ts'
import { restRoute } from './rest-route.ts'

const PRODUCES = OBJECT_TYPES.map(({ type }) => type)

/** No groups: until a server has some, this is what clients find out. */
const GROUPS = { kind: 'APIGroupList', groups: [] }
const LIST = { metadata: {}, items: [] }
const AGGREGATED = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', ...LIST }
const AS_AGGREGATED = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/**
 * The discovery of API groups at `/apis`, in both of its forms.
 * @see kubernetes/apiserver pkg/endpoints/discovery/root.go, aggregated/wrapper.go
 */
export function apiGroupsPage(): ApiHandler {
  // Of what is listed, whichever its form is.
  const etag = `"${createHash('sha512').update(safeJson(LIST)).digest('hex').toUpperCase()}"`
  return restRoute({
    root: '/apis',
    produces: PRODUCES,
    get: (request, response) => {
      const headers = { ETag: etag, Vary: 'Accept', 'Cache-Control': 'public' }
      const isSent = writeObject(request, response, 200, { value: GROUPS }, { value: AGGREGATED, as: AS_AGGREGATED, headers })
      if (!isSent) sendNotAcceptable({ request, response }, PRODUCES)
    },
  })
}
