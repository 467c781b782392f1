import { createHash } from 'node:crypto'
import { respondCompressed } from '../../encoding/compress.ts'
import { safeJson } from '../../encoding/json.ts'
import { negotiate } from '../../encoding/negotiate.ts'
import type { ApiHandler } from '../../mux/path-mux.ts'
import type { ApiGroup } from '../api-group.ts'
import { openApiV2Document } from './v2-document.ts'
import { openApiV2Message } from './v2-message.ts'

export const OPENAPI_V2 = '/openapi/v2'

const MESSAGE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/** What it can be asked for as; the last is a spelling of before that clients still have. */
const OFFERED = [
  { type: 'application/json', sent: 'application/json' },
  { type: MESSAGE, sent: MESSAGE },
  { type: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf', sent: MESSAGE },
]

/** What compressing costs more than it saves. */
const SMALL = 1_400

interface Made {
  readonly of: readonly ApiGroup[]
  readonly json: string
  readonly etag: string
  readonly message: () => Buffer
}

/**
 * One document for all groups, made when it is first asked for, and again when there are others.
 * Its tag is that of its content, in whichever form it is sent.
 * @see kubernetes/kube-openapi pkg/handler/handler.go
 */
export function openApiV2Page(groups: () => readonly ApiGroup[], info: object): ApiHandler {
  let made: Made | undefined
  const current = (): Made => {
    const of = groups()
    if (made !== undefined && made.of.length === of.length && made.of.every((group, index) => group === of[index])) return made
    const document = openApiV2Document(of, info)
    const json = safeJson(document)
    let message: Buffer | undefined
    made = {
      of,
      json,
      etag: `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`,
      message: () => (message ??= openApiV2Message(document)),
    }
    return made
  }
  return (request, response) => {
    const chosen = negotiate(request, OFFERED)
    if (chosen === undefined) return void response.writeHead(406).end()
    const { json, etag, message } = current()
    const { sent } = chosen.form
    const headers = { 'Content-Type': sent, ETag: etag, Vary: 'Accept-Encoding, Accept' }
    if (request.headers['if-none-match'] === etag) return void response.writeHead(304, headers).end()
    return respondCompressed(request, response, { status: 200, headers, body: sent === MESSAGE ? message() : json }, SMALL)
  }
}
