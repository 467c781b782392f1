import type { IncomingMessage, ServerResponse } from 'node:http'
import { auditResponseObject } from '../audit/request-audit.ts'
import { queryValue } from '../engine.ts'
import { firstHeader } from '../first-header.ts'
import { respondCompressed } from './compress.ts'
import { compactJson, prettyJson } from './json.ts'
import { negotiate } from './negotiate.ts'
import { toYaml } from './yaml.ts'

const JSON_TYPE = 'application/json'

const AS_JSON = { type: JSON_TYPE, encode: compactJson, isStreamed: true }

/** What every object of the API can be sent as, the default first. */
export const OBJECT_TYPES = [AS_JSON, { type: 'application/yaml', encode: toYaml }]

/** Whether one of them will do for the client. */
export const finds = (request: IncomingMessage): boolean => negotiate(request, OBJECT_TYPES) !== undefined

/** Programs whose users read what they are sent. */
const READ_BY_PEOPLE = /^(curl|Wget|Mozilla\/5\.0)/

/** @see kubernetes/apiserver pkg/endpoints/handlers/negotiation/negotiate.go isPrettyPrint */
export function wantsToRead({ url = '/', headers }: IncomingMessage): boolean {
  // An escaped name is not looked for, as upstream.
  const query = url.indexOf('?')
  const asked = query >= 0 && url.includes('pretty', query) ? queryValue(url, 'pretty') : ''
  if (asked !== '') return /^(1|t|T|TRUE|true|True)$/.test(asked)
  return READ_BY_PEOPLE.test(headers['user-agent'] ?? '')
}

/** An object in one of its forms. */
interface Form {
  readonly value: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** How clients ask for it, when it is not the usual one: `g=GROUP;v=VERSION;as=KIND`. */
  readonly as?: string
}

/**
 * Sends an object in the form that its client wants, and says whether there was one. Who asks for
 * another form than the usual one gets it, however little it is preferred. A failure always finds
 * one: that it cannot be read must not hide it. 304 to a client that has it, where there is an
 * `ETag`.
 * @see kubernetes/apiserver pkg/endpoints/handlers/responsewriters/writers.go WriteObjectNegotiated
 */
export function writeObject(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  ...forms: readonly [Form, ...(readonly Form[])]
): boolean {
  const inTypes = (form: Form) => OBJECT_TYPES.map((type) => ({ ...type, ...form }))
  const others =
    firstHeader(request, 'accept') === '' ? undefined : negotiate(request, forms.filter(({ as }) => as !== undefined).flatMap(inTypes))
  const chosen = others ?? negotiate(request, forms.filter(({ as }) => as === undefined).flatMap(inTypes))
  if (chosen === undefined && status < 400) return false
  const { type, encode, as, value, headers = {} } = chosen?.form ?? { ...AS_JSON, encode: prettyJson, ...forms[0] }
  const { 'if-none-match': known } = request.headers
  if (known !== undefined && known === headers['ETag']) {
    for (const name in headers) response.setHeader(name, headers[name] as string)
    response.statusCode = 304
    response.end()
    return true
  }
  // What a client is sent against its will upstream does not record.
  if (chosen) auditResponseObject(request, chosen.form.value)
  const toText = type === JSON_TYPE && (chosen?.isForPeople || wantsToRead(request)) ? prettyJson : encode
  // Such an answer is about what is installed: its length is not in the hands of clients, so that
  // nothing has to wait for its compression.
  void respondCompressed(request, response, {
    status,
    headers: { 'Content-Type': as === undefined ? type : `${type};${as}`, ...headers },
    body: toText(value),
  })
  return true
}
