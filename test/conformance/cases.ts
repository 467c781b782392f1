import { expect } from 'vitest'
import { POLL } from '../support/upstream-client.ts'
import type { WebSocketClient } from '../support/web-socket-client.ts'
import { SECURE, type Served } from './places.ts'
import { ofAnswers, ofTunnel, ofWebSocket, tunnelTo, type Witness, webSocketTo } from './row-clients.ts'
import type { Client } from './transports.ts'

/** How the rows of docs/connections.md are acted out: what brings a connection into that state. */

export interface Scene {
  readonly witness: Witness
  /** What the client, or a handler, does when the stop has come so far. */
  readonly later?: { readonly at: 'NotAcceptingNewRequest' | 'LastCallComplete'; readonly happens: () => void | Promise<void> }
}

type Act = (served: Served) => Promise<Scene>

const open = ({ adapter, port }: Served): Promise<Client> => adapter.open(port)

const status = async (answer: Promise<{ readonly status: number }>): Promise<number> => (await answer).status

/** Resolves when the life knows of what its client has sent. */
const known = ({ t }: Served, counts: Partial<ReturnType<typeof t.life.counts>>): Promise<void> =>
  expect.poll(() => t.life.counts(), POLL).toMatchObject(counts)

const connected = ({ t }: Served): Promise<void> => expect.poll(() => t.life.counts().connections.open, POLL).toBe(1)

const isSecure = ({ place }: Served): boolean => SECURE.includes(place.over)
const isWebSocket = ({ place: { over } }: Served): boolean => over === 'ws' || over === 'wss'
/** Whether a WebSocket that is asked for late is opened. */
const isLetIn = (served: Served): boolean => isWebSocket(served) && served.place.mode === 'refuse'
const isHttp2 = ({ place: { over } }: Served): boolean => over === 'h2' || over === 'h2c'

const opened = (served: Served, path = '/chat'): Promise<WebSocketClient> => webSocketTo(served.port, isSecure(served), path)

/** Answers the Close frame that will come. */
const answering = (client: WebSocketClient, code = 1001): Witness => {
  client.closeFrame().then(
    () => client.close(code),
    () => undefined,
  )
  return ofWebSocket(client)
}

/** Asks for all of these, one behind the other; `/slow` is answered when the drain has begun. */
const asking =
  (...paths: readonly string[]): Act =>
  async (served) => {
    const { stage } = served
    const client = await open(served)
    const answers = paths.map((path) => status(client.ask(path)))
    const witness = ofAnswers(client, ...answers)
    await stage.slow.reached
    await known(served, { requests: paths.length })
    return { witness, later: { at: 'NotAcceptingNewRequest', happens: () => stage.slow.open() } }
  }

/** Asks for something that no act ends. */
const askingFor =
  (path: string, begun?: string): Act =>
  async (served) => {
    const client = await open(served)
    const witness = ofAnswers(client, status(client.ask(path)))
    if (begun === undefined) await known(served, { requests: 1 })
    else await client.until(begun)
    return { witness }
  }

/** When the only watch has had its turn, and long before it is over. */
const whenTold = ({ t }: Served, happens: () => void): NonNullable<Scene['later']> => ({
  at: 'NotAcceptingNewRequest',
  happens: async () => {
    await t.clock.advance(100)
    happens()
  },
})

/** Sends messages that are answered when the drain has begun. */
const sending =
  (count: number): Act =>
  async (served) => {
    const { stage } = served
    const client = await opened(served, '/slow')
    for (let index = 0; index < count; index++) client.send('question')
    await stage.slow.reached
    return { witness: answering(client), later: whenTold(served, () => stage.slow.open()) }
  }

const shakingHands =
  (sent: 'nothing' | 'half', rest: 'no rest' | 'and a rest'): Act =>
  async (served) => {
    const { adapter, port } = served
    const handshake = await adapter.shakeHands?.(port, sent)
    if (!handshake) throw new Error(`no handshake over ${served.place.over}`)
    await connected(served)
    if (rest === 'no rest') return { witness: { saw: () => Promise.resolve([]), ended: () => handshake.ended() } }
    let client: Witness | undefined
    return {
      // What there is to see is seen by what the handshake leads to.
      witness: { saw: async () => (await client?.saw()) ?? [], ended: async () => (await client?.ended()) ?? 'open' },
      later: {
        at: 'LastCallComplete',
        happens: async () => {
          const finished = await handshake.finish()
          if (isLetIn(served)) client = answering(await finished.halfWebSocket('/chat')())
          else {
            client = ofAnswers(finished, isWebSocket(served) ? finished.upgrade('/chat') : status(finished.ask('/hello')))
            await client.saw()
          }
        },
      },
    }
  }

const halfHead =
  (rest: 'no rest' | 'and a rest'): Act =>
  async (served) => {
    const client = await open(served)
    const send = restOf(served, client)
    await connected(served)
    if (rest === 'no rest') return { witness: ofAnswers(client) }
    let witness: Witness | undefined
    return {
      witness: { saw: async () => (await witness?.saw()) ?? [], ended: () => client.ended() },
      later: {
        at: 'LastCallComplete',
        happens: async () => {
          witness = await send()
        },
      },
    }
  }

/** Sends half of a head; the result sends the rest, and resolves when it was answered. */
function restOf(served: Served, client: Client): () => Promise<Witness> {
  if (isLetIn(served)) {
    const open = client.halfWebSocket('/chat')
    return async () => answering(await open())
  }
  const send = isWebSocket(served) ? client.halfUpgrade('/chat') : halfOf(client)
  return async () => {
    const witness = ofAnswers(client, send())
    await witness.saw()
    return witness
  }
}

function halfOf(client: Client): () => Promise<number> {
  const send = client.half('/hello', 'head')
  return () => status(send())
}

const tunnel =
  (handler: 'polite' | 'stays' | 'rude' | 'moves'): Act =>
  async (served) => {
    const goodbye = handler === 'polite' ? 'bye' : undefined
    if (isHttp2(served)) {
      const witness = await tunnelTo(served.port, isSecure(served), `${handler}:1`)
      await known(served, { watches: 1 })
      return { witness }
    }
    const client = await open(served)
    expect(await client.upgrade(`/${handler}`)).toBe(101)
    await known(served, { watches: 1 })
    return { witness: ofTunnel(client, goodbye) }
  }

/** Of a message of several. */
const FIRST_FRAME = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x61])

export const ACTS: Readonly<Record<string, Act>> = {
  'nothing was asked on it': async (served) => {
    const client = await open(served)
    await connected(served)
    return { witness: ofAnswers(client) }
  },

  'nothing of it was sent': shakingHands('nothing', 'no rest'),
  'half of it was sent, and no more comes': shakingHands('half', 'no rest'),
  'half of it was sent, and the rest with a request after the last call': shakingHands('half', 'and a rest'),
  'the opening handshake is not answered yet': async (served) => {
    const { stage } = served
    const opening = opened(served, '/later').then((client) => answering(client))
    await stage.slow.reached
    return {
      witness: { saw: async () => (await opening).saw(), ended: async () => (await opening).ended() },
      later: { at: 'NotAcceptingNewRequest', happens: () => stage.slow.open() },
    }
  },

  'an answer was taken, and nothing is asked': async (served) => {
    const client = await open(served)
    const answer = status(client.ask('/hello'))
    await answer
    return { witness: ofAnswers(client, answer) }
  },
  'a message was answered, and it is silent': async (served) => {
    const client = await opened(served)
    client.send('question')
    await client.received(1)
    return { witness: answering(client) }
  },

  'a request waits for its answer': asking('/slow'),
  'a request gets no answer': askingFor('/hang'),
  'a message waits for its answer': sending(1),

  'half of the first head was sent, and the rest after the last call': halfHead('and a rest'),
  'half of the first head was sent, and no more comes': halfHead('no rest'),
  'half of a later head was sent': async (served) => {
    const client = await open(served)
    const answer = status(client.ask('/hello'))
    await answer
    client.half('/hello', 'head')
    return { witness: ofAnswers(client, answer) }
  },
  'half of a body was sent, and the rest after the answer': async (served) => {
    const { stage } = served
    const client = await open(served)
    const send = client.half('/slow', 'body')
    await stage.slow.reached
    let witness: Witness | undefined
    return {
      witness: { saw: async () => (await witness?.saw()) ?? [], ended: () => client.ended() },
      later: {
        at: 'NotAcceptingNewRequest',
        happens: async () => {
          stage.slow.open()
          await client.until('done')
          witness = ofAnswers(client, status(send()))
          await witness.saw()
        },
      },
    }
  },
  'half of a message was sent': async (served) => {
    const client = await opened(served)
    client.raw.send(FIRST_FRAME)
    return { witness: answering(client) }
  },

  'three requests wait for their answers': asking('/slow', '/slow', '/slow'),
  'three requests wait, and the second gets no answer': asking('/slow', '/hang', '/slow'),
  'three messages wait for their answers': sending(3),

  'an answer was sent in part': async (served) => {
    const { stage } = served
    const client = await open(served)
    const witness = ofAnswers(client, status(client.ask('/stream')))
    await client.until('one')
    return { witness, later: { at: 'NotAcceptingNewRequest', happens: () => stage.stream.open() } }
  },
  'an answer was sent in part, and its rest never is': askingFor('/stream', 'one'),
  'an event stream is open, and ends when it is notified': askingFor('/watch', 'begun'),
  'an event stream is open whose handler does not listen, and ends by itself': async (served) => {
    const { stage } = served
    const client = await open(served)
    const witness = ofAnswers(client, status(client.ask('/events')))
    await client.until('begun')
    return { witness, later: { at: 'NotAcceptingNewRequest', happens: () => stage.stream.open() } }
  },
  'an event stream is open whose handler does not listen, and never ends': askingFor('/events', 'begun'),
  'a watch is open that does not end': askingFor('/endless', 'begun'),
  'a message was sent in part': async (served) => {
    const { stage } = served
    const client = await opened(served, '/frames')
    await client.received(1)
    return { witness: answering(client), later: whenTold(served, () => stage.stream.open()) }
  },

  'a tunnel is open, and its handler says goodbye': tunnel('polite'),
  'a tunnel is open, and its handler hears that and does not end it': tunnel('stays'),
  'a tunnel is open, nothing moves on it, and its handler does not listen': tunnel('rude'),
  'a tunnel is open, and bytes move on it beyond the grace': tunnel('moves'),
  'a WebSocket is open, and its client answers with another code': async (served) => ({
    witness: answering(await opened(served), 1000),
  }),
  'a WebSocket is open, and its client does not answer': async (served) => ({ witness: ofWebSocket(await opened(served)) }),
  'a WebSocket is open, and its client goes on sending': async (served) => {
    const client = await opened(served)
    client.closeFrame().then(
      () => client.send('and another thing'),
      () => undefined,
    )
    return { witness: ofWebSocket(client) }
  },
}
