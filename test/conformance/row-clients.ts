import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import { onTestFinished } from 'vitest'
import { RawClient } from '../support/raw-client.ts'
import { WebSocketClient } from '../support/web-socket-client.ts'
import { type Client, established, ofOurs, RETRYABLE } from './transports.ts'

/** What a client has seen of its connection, when that is over. */
export interface Witness {
  /** Words of docs/connections.md: of what came, and whether it was told. */
  saw(): Promise<readonly string[]>
  /** How the server has closed the connection. */
  ended(): Promise<string>
}

/** One that has asked: what became of each request, and whether the last answer said to leave. */
export function ofAnswers(client: Client, ...answers: readonly Promise<number>[]): Witness {
  const fates = answers.map((answer) =>
    answer.then(
      (status) => String(status),
      (error: Error) => (error.message === RETRYABLE ? 'retryable' : 'lost'),
    ),
  )
  return {
    saw: async () => {
      const seen = await Promise.all(fates)
      const taken = seen.filter((fate) => /^\d+$/.test(fate)).length
      const { toldAfter } = client
      const notified = toldAfter === undefined ? 'unnotified' : toldAfter > taken ? 'told too late' : 'notified'
      return [...(seen.length > 0 ? [seen.join(' ')] : []), notified]
    },
    ended: () => client.ended(),
  }
}

const secured = (port: number, protocols?: string[]): Socket =>
  connectSecurely({ port, rejectUnauthorized: false, ...ofOurs, ...(protocols && { ALPNProtocols: protocols }) })

async function socketTo(port: number, isSecure: boolean, protocols?: string[]): Promise<Socket> {
  const socket = isSecure ? secured(port, protocols) : connect({ port, noDelay: true, ...ofOurs })
  await established(socket, isSecure ? 'secureConnect' : 'connect')
  onTestFinished(() => void socket.destroy())
  return socket
}

/** A connection that asks for a WebSocket, which may be refused. */
export const webSocketTo = async (port: number, isSecure: boolean, path: string): Promise<WebSocketClient> =>
  WebSocketClient.open(RawClient.on(await socketTo(port, isSecure)), path)

/** A WebSocket's: its messages, and the Close frame. */
export const ofWebSocket = (client: WebSocketClient): Witness => ({
  saw: async () => {
    const { code } = await client.closeFrame()
    const { messages } = client
    return [...(messages.length > 0 ? [`${messages.length} message${messages.length === 1 ? '' : 's'}`] : []), String(code)]
  },
  ended: () => client.raw.closed(),
})

/** A tunnel through an upgraded connection of HTTP/1.1, whose client is not told by anything. */
export const ofTunnel = (client: Client, goodbye?: string): Witness => ({
  saw: async () => {
    if (goodbye === undefined) return []
    await client.until(goodbye)
    return ['goodbye']
  },
  ended: () => client.ended(),
})

/** A tunnel through a stream of HTTP/2. */
export async function tunnelTo(port: number, isSecure: boolean, authority: string): Promise<Witness> {
  const socket = await socketTo(port, isSecure, isSecure ? ['h2'] : undefined)
  const session = connectHttp2('http://localhost', { createConnection: () => socket })
  let isNotified = false
  session.on('goaway', () => (isNotified = true))
  session.on('error', () => undefined)
  const ended = new Promise<string>((resolve) => {
    socket.once('end', () => resolve('ended')).once('close', () => resolve('reset'))
  })
  const stream = session.request({ ':method': 'CONNECT', ':authority': authority })
  let received = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => (received += text))
  stream.on('error', () => undefined)
  stream.on('end', () => stream.end())
  await new Promise((resolve, reject) => stream.once('response', resolve).once('close', reject))
  const closed = new Promise((resolve) => stream.once('close', resolve))
  return {
    saw: async () => {
      await closed
      const whole = received === 'bye' ? ['goodbye'] : received === '' ? [] : [`received ${received}`]
      return [...(stream.rstCode === 0 ? whole : ['lost']), isNotified ? 'notified' : 'unnotified']
    },
    ended: () => ended,
  }
}
