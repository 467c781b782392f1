import { readdirSync, readFileSync } from 'node:fs'

export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * What a client sees of an answer. What is not there is not compared: of some bodies only the
 * beginning, the keys or the names of metrics were recorded.
 */
export interface Answer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly bodyBegins?: string
  readonly bodyKeys?: readonly string[]
  readonly metrics?: Readonly<Record<string, { readonly type: string; readonly labels: readonly string[] }>>
  /** `closed`: not one byte of an answer. */
  readonly error?: string
  /** The body broke off. */
  readonly cut?: string
  /** The recorder has gone away from a stream that went on. */
  readonly partial?: boolean
}

export interface Exchange {
  /** Its file. */
  readonly group: string
  readonly request: RecordedRequest
  readonly answer: Answer
}

/** Settings of the recorded server, in the words of its recorder. */
export interface Settings {
  readonly postStart?: readonly { readonly name: string; readonly ms?: number; readonly server?: number }[]
  readonly readyz?: readonly RecordedCheck[]
  readonly livez?: readonly RecordedCheck[]
  readonly healthz?: readonly RecordedCheck[]
  readonly mux?: readonly { readonly name: string; readonly ms: number }[]
  readonly delegates?: number
  readonly plainEmptyDelegate?: boolean
  readonly hsts?: readonly string[]
  readonly cors?: readonly string[]
  readonly requestTimeout?: number
  readonly authenticate?: boolean
  readonly widgets?: boolean
  readonly maxBody?: number
  readonly audit?: object
  readonly swallowPanics?: boolean
}

export interface RecordedCheck {
  readonly name: string
  /** Until when it fails; -1: always. */
  readonly until?: number
  readonly reason?: string
  /** 0, or not there, is the outermost. */
  readonly server?: number
}

/** As much of an audit event as was recorded. */
export interface RecordedEvent {
  readonly stage: string
  readonly verb: string
  readonly uri: string
  readonly code: number
}

export interface Group {
  readonly name: string
  readonly about: string
  readonly settings: Settings
  readonly exchanges: readonly Exchange[]
  /** Of a group that was audited. */
  readonly auditEvents?: readonly RecordedEvent[]
}

const FOLDER = new URL('../golden/', import.meta.url)

/** What the real server answered, one group of requests for each of its settings. */
export const recordedGroups: readonly Group[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .map((file) => {
    const name = file.replace('.json', '')
    // The end of a name that the server has made up.
    const text = readFileSync(new URL(file, FOLDER), 'utf8').replaceAll('gen-xxxxx', 'gen-<generated>')
    const { about, settings, answers, auditEvents } = JSON.parse(text) as {
      readonly about: string
      readonly settings: Settings
      readonly answers: readonly Omit<Exchange, 'group'>[]
      readonly auditEvents?: readonly RecordedEvent[]
    }
    return {
      name,
      about,
      settings,
      exchanges: answers.map((one) => ({ group: name, ...one, answer: withBodyOfGet(one, answers) })),
      ...(auditEvents && { auditEvents }),
    }
  })

/**
 * An answer to HEAD has the length of a body that is not there: that of the answer to GET. It gets
 * that body, so that what is another body has another length; on the wire it is empty.
 */
function withBodyOfGet({ request, answer }: Omit<Exchange, 'group'>, answers: readonly Omit<Exchange, 'group'>[]): Answer {
  if (request.method !== 'HEAD') return answer.partial ? withoutError(answer) : answer
  const get = answers.find((other) => other.request.method === 'GET' && other.request.path === request.path && !other.request.headers)
  return get?.answer.body !== undefined && get.answer.status === answer.status ? { ...answer, body: get.answer.body } : answer
}

/** That it has left a stream is no error of the server's. */
function withoutError({ error: _, ...answer }: Answer): Answer {
  return answer
}

/** `GET /path (Accept: application/yaml)` */
export const titleOf = ({ method, path, headers = {} }: RecordedRequest): string => {
  const given = Object.entries(headers).filter(([name]) => name !== 'Content-Type')
  return `${method} ${path}${given.length > 0 ? ` (${given.map(([name, value]) => `${name}: ${value}`).join(', ')})` : ''}`
}
