import type { ClientHttp2Session, ClientHttp2Stream, IncomingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { fetchResponse } from './answer.ts'
import type { LoopbackRequest, LoopbackTarget } from './target.ts'

/** Headers of HTTP/1.1 connections, which no request of HTTP/2 may have. */
const OF_CONNECTIONS: readonly string[] = [
  'connection',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]

/** Asks a listener that speaks HTTP/2 alone, over a connection of its own. */
export async function askOverHttp2({ host, port, socketPath }: LoopbackTarget, asked: LoopbackRequest): Promise<Response> {
  const http2 = await import('node:http2')
  const place = socketPath === undefined ? { host: host as string, port: port as number } : { path: socketPath }
  const session = http2.connect('http://localhost', { createConnection: () => connect(place) })
  try {
    return await askOn(session, asked)
  } catch (thrown) {
    session.destroy()
    throw thrown
  }
}

async function askOn(session: ClientHttp2Session, { path, method, headers, body, signal }: LoopbackRequest): Promise<Response> {
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTIONS.includes(name)))
  const stream = session.request({ ...own, ':path': path, ':method': method }, { signal, endStream: body === null })
  const answered = new Promise<IncomingHttpHeaders>((resolve, reject) => {
    stream.once('response', resolve)
    stream.on('error', reject)
    session.on('error', reject)
  })
  stream.once('close', () => session.close())
  if (body !== null)
    pipeline(Readable.fromWeb(body as ReadableStream), stream as WritableHalf).catch((error: Error) => stream.destroy(error))
  const { ':status': status, ...rest } = (await answered) as IncomingHttpHeaders & { ':status': number }
  const rawHeaders = Object.entries(rest).flatMap(([name, value]) => [value ?? []].flat().flatMap((each) => [name, each]))
  return fetchResponse(method, status, rawHeaders, stream)
}

/** The half that is written; the stream may be read to its end later than it is written. */
type WritableHalf = ClientHttp2Stream & NodeJS.WritableStream
