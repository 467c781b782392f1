import type { ServerHttp2Session } from 'node:http2'
import { setImmediate } from 'node:timers'
import type { Clock } from '../../base/clock.ts'
import type { WireConnection } from '../ports.ts'
import type { TrafficPort } from '../transport.ts'
import { destroySession } from './broken-off.ts'
import { ENHANCE_YOUR_CALM } from './error-codes.ts'
import { type Demand, FloodLimits } from './flood-limits.ts'

/** How long what is in flight has to end on a connection whose client is sent away. */
export const SENT_AWAY_MS = 10_000

/** What is sent for a frame of the client that has to be answered. */
const PING_BYTES = 17
const SETTINGS_BYTES = 9

/** The part of a wire that this needs. */
interface PatientWire {
  readonly session: ServerHttp2Session
  readonly connection: WireConnection
  readonly hasStreams: boolean
  /** Sends GOAWAY with this code: what is in flight goes on. */
  sendAway(code: number): void
}

/**
 * What a client may do on a connection until it is sent away ({@link FloodLimits}), and how that is
 * done: by GOAWAY, so that what is in flight can still be answered, and by the end of the session
 * when that takes too long, when nothing is in flight, or when the client goes on as before.
 */
export class Patience {
  readonly #wire: PatientWire
  readonly #traffic: TrafficPort
  readonly #clock: Clock
  #limits: FloodLimits
  #state: 'serving' | 'sent away' | 'over' = 'serving'
  #timer: unknown
  /** Bytes of answers to PING and SETTINGS frames, as far as they have been asked for. */
  #acknowledgements = 0
  /** The most bytes beside those that had been sent when a PING came. */
  #sent = 0

  constructor(wire: PatientWire, traffic: TrafficPort) {
    this.#wire = wire
    this.#traffic = traffic
    this.#clock = traffic.clock
    this.#limits = new FloodLimits(traffic.clock)
    const { session } = wire
    session.on('ping', () => this.#pinged())
    session.on('remoteSettings', () => {
      this.#acknowledgements += SETTINGS_BYTES
      this.demanded('settings')
    })
  }

  demanded(demand: Demand): void {
    if (this.#state === 'over' || this.#wire.session.destroyed || this.#limits.allows(demand)) return
    const why = `too many ${demand}`
    if (this.#state === 'serving') this.#traffic.sentAway(this.#wire.connection, why)
    const goesOn = this.#state === 'sent away'
    this.#state = goesOn ? 'over' : 'sent away'
    this.#limits = new FloodLimits(this.#clock)
    // A frame of the client is being read in this step.
    setImmediate(() => this.#sendAway(why))
  }

  /** A stream was answered, and came to its end in order. */
  answered(): void {
    this.#limits.answered()
  }

  /** The connection is closed, or about to be. */
  cancel(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /**
   * A client that measures its round trips pings whenever DATA has come, as those of gRPC do: a
   * PING is free when HEADERS or DATA were sent since the last one, which is what servers of gRPC
   * allow. Only what waits to be sent with an answer to a PING is not seen yet.
   */
  #pinged(): void {
    const sent = (this.#wire.session.socket.bytesWritten ?? 0) - this.#acknowledgements
    this.#acknowledgements += PING_BYTES
    if (sent > this.#sent) this.#sent = sent
    else this.demanded('pings')
  }

  #sendAway(why: string): void {
    const { session, connection } = this.#wire
    if (session.destroyed) return
    const end = (): void => {
      this.cancel()
      if (!session.destroyed) destroySession(session, new Error(why), ENHANCE_YOUR_CALM)
    }
    if (this.#state === 'over' || (connection.isIdle && !this.#wire.hasStreams)) {
      end()
      return
    }
    this.#wire.sendAway(ENHANCE_YOUR_CALM)
    this.#timer = this.#clock.setTimeout(end, SENT_AWAY_MS)
  }
}
