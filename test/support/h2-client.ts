import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { onTestFinished } from 'vitest'

/** What came back on a stream, whole or not. */
export interface StreamAnswer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly trailers: IncomingHttpHeaders | undefined
  /** What it was ended with; 0 for one that was not broken off. */
  readonly code: number
}

/** One connection of node's own client, which notes what its server says about it. */
export class H2Client {
  readonly session: ClientHttp2Session
  /** Last stream of each GOAWAY, in the order in which they came. */
  readonly goaways: { readonly code: number; readonly lastStream: number }[] = []
  readonly closed: Promise<void>

  static async open(url: string): Promise<H2Client> {
    const client = new H2Client(url)
    await new Promise((resolve, reject) => client.session.once('remoteSettings', resolve).once('error', reject))
    return client
  }

  private constructor(url: string) {
    this.session = connect(url, { rejectUnauthorized: false })
    this.session.on('error', () => undefined)
    this.session.on('goaway', (code, lastStream) => this.goaways.push({ code, lastStream }))
    this.closed = new Promise((resolve) => this.session.once('close', () => resolve()))
    onTestFinished(() => this.session.destroy())
  }

  get(path: string, headers: OutgoingHttpHeaders = {}): Promise<StreamAnswer> {
    return answerOf(this.stream({ ':path': path, ...headers }, true))
  }

  post(path: string, body: string, headers: OutgoingHttpHeaders = {}): Promise<StreamAnswer> {
    const stream = this.stream({ ':path': path, ':method': 'POST', ...headers })
    stream.end(body)
    return answerOf(stream)
  }

  stream(headers: OutgoingHttpHeaders, endStream = false): ClientHttp2Stream {
    const stream = this.session.request(headers, { endStream })
    stream.on('error', () => undefined)
    return stream
  }
}

export function answerOf(stream: ClientHttp2Stream): Promise<StreamAnswer> {
  return new Promise((resolve) => {
    let headers: IncomingHttpHeaders = {}
    let body = ''
    let trailers: IncomingHttpHeaders | undefined
    stream.setEncoding('utf8')
    stream.on('response', (given) => (headers = given))
    stream.on('data', (text: string) => (body += text))
    stream.on('trailers', (given) => (trailers = given))
    stream.on('close', () =>
      resolve({ status: headers[':status'] as number | undefined, headers, body, trailers, code: stream.rstCode ?? 0 }),
    )
  })
}
