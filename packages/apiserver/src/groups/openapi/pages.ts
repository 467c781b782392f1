import { createHash } from 'node:crypto'
import { apiExchangeOf } from '../../api-exchange.ts'
import { safeJson } from '../../encoding/json.ts'
import { queryValue, respond } from '../../engine.ts'
import { plainNotFound } from '../../mux/not-found.ts'
import type { ApiHandler } from '../../mux/path-mux.ts'
import type { ApiGroup, ApiVersion } from '../api-group.ts'
import { documentKey, openApiDocument } from './documents.ts'

export const OPENAPI_ROOT = '/openapi/v3'

interface Made {
  readonly json: string
  readonly hash: string
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1_000
const JSON_TYPE = { 'Content-Type': 'application/json' }

/**
 * The documents of all versions of the groups: each is made when it, or the list of all, is first
 * asked for. A client that names the hash of its content may keep it for a year.
 * @param info of all documents
 * @param wall the time of the wall
 * @see kubernetes/kube-openapi pkg/handler3/handler.go
 */
export function openApiPages(groups: () => readonly ApiGroup[], info: object, wall: () => number): ApiHandler {
  // A version is never changed: another one is another value.
  const documents = new WeakMap<ApiVersion, Made>()
  const made = (group: ApiGroup, version: ApiVersion): Made => {
    const known = documents.get(version) ?? withHash(safeJson(openApiDocument(group, version, info)))
    documents.set(version, known)
    return known
  }
  const all = () =>
    groups().flatMap((group) => group.versions.map((version) => ({ key: documentKey(group.group, version.version), group, version })))
  const urlOf = (key: string, { hash }: Made): string => `${OPENAPI_ROOT}/${key}?hash=${hash}`
  return (request, response) => {
    const path = apiExchangeOf(request)?.info.path ?? ''
    const { 'if-none-match': known } = request.headers
    const answer = ({ json, hash }: Made, headers: Readonly<Record<string, string>>): void => {
      const etag = `"${hash}"`
      const isKnown = known === etag
      const of = { ...JSON_TYPE, ...headers, ETag: etag }
      if (isKnown) response.writeHead(304, of).end()
      else respond(response, { status: 200, headers: of, body: json })
    }
    if (path === OPENAPI_ROOT) {
      const paths = Object.fromEntries(
        all().map(({ key, group, version }) => [key, { serverRelativeURL: urlOf(key, made(group, version)) }]),
      )
      return answer(withHash(safeJson({ paths })), {})
    }
    const found = all().find(({ key }) => path === `${OPENAPI_ROOT}/${key}`)
    if (found === undefined) return plainNotFound(request, response)
    const document = made(found.group, found.version)
    const asked = queryValue(request.url ?? '/', 'hash')
    if (asked === '') return answer(document, { Vary: 'Accept' })
    if (asked !== document.hash) {
      response.writeHead(301, { Location: urlOf(found.key, document) }).end()
      return
    }
    const expires = new Date(wall() + YEAR_MS).toUTCString()
    return answer(document, { Vary: 'Accept', 'Cache-Control': 'public, immutable', Expires: expires })
  }
}

const withHash = (json: string): Made => ({ json, hash: createHash('sha512').update(json).digest('hex').toUpperCase() })
