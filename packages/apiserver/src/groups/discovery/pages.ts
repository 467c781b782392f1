import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { safeJson } from '../../encoding/json.ts'
import { OBJECT_TYPES, writeObject } from '../../encoding/write-object.ts'
import type { ApiHandler } from '../../mux/path-mux.ts'
import { sendNotAcceptable } from '../../status.ts'
import type { ApiGroup } from '../api-group.ts'
import { type AggregatedList, aggregatedList } from './documents.ts'

/** The media types that discovery answers with. */
export const DISCOVERY_TYPES = OBJECT_TYPES.map(({ type }) => type)

const AGGREGATED = { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' }
const AS_AGGREGATED = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

/** One document. */
export const discoveryPage =
  (document: object): ApiHandler =>
  (request, response) => {
    if (!writeObject(request, response, 200, { value: document })) sendNotAcceptable({ request, response }, DISCOVERY_TYPES)
  }

/**
 * A root, `/api` or `/apis`, in both of its forms. The aggregated one is made when it is first
 * asked for, and again when there are other groups.
 * @see kubernetes/apiserver pkg/endpoints/discovery/aggregated/wrapper.go
 */
export function discoveryRoot(
  groups: () => readonly ApiGroup[],
  plain: (groups: readonly ApiGroup[], serverAddress: string) => object,
): ApiHandler {
  let made: { readonly of: readonly ApiGroup[]; readonly list: AggregatedList; readonly etag: string } | undefined
  return (request, response) => {
    const of = groups()
    if (made === undefined || made.of.length !== of.length || made.of.some((group, index) => group !== of[index])) {
      const list = aggregatedList(of)
      // Of what is listed, whichever its form is.
      made = { of, list, etag: `"${createHash('sha512').update(safeJson(list)).digest('hex').toUpperCase()}"` }
    }
    const headers = { ETag: made.etag, Vary: 'Accept', 'Cache-Control': 'public' }
    const aggregated = { value: { ...AGGREGATED, ...made.list }, as: AS_AGGREGATED, headers }
    const isSent = writeObject(request, response, 200, { value: plain(of, addressOf(request)) }, aggregated)
    if (!isSent) sendNotAcceptable({ request, response }, DISCOVERY_TYPES)
  }
}

/** The port is all that a server knows of how it is reached. */
const addressOf = ({ socket }: IncomingMessage): string => `:${socket?.localPort ?? ''}`
