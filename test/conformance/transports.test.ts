// What a life promises on every connection, for each transport. Fails when: a connection of one of
// them is told too early or not at all, closed with something outstanding, held for ever, lost from
// the counts, or named wrongly; or when the suite does not see a transport that does so.
import type { Writable } from 'node:stream'
import { describe, expect, test, vi } from 'vitest'
import { Http1Wire } from '#src/http/h1/wire.ts'
import { Http2Wire } from '#src/http/h2/wire.ts'
import type { WireAnswer, WireExchange } from '#src/http/ports.ts'
import { Handshakes } from '#src/http/tls/handshake.ts'
import { UpgradedWire } from '#src/http/upgraded/wire.ts'
import { h2, h2BesideHttp1, h2c, http1BesideH2 } from './http2-transports.ts'
import { CASES, conformance, conforms, type Mode } from './transport-suite.ts'
import { http1, https, type TransportAdapter } from './transports.ts'

conformance(http1)
conformance(https)
conformance(h2c)
conformance(h2)
conformance(h2BesideHttp1)
conformance(http1BesideH2)

/** A transport that does one thing wrong, and the case that has to see it. */
interface Broken {
  readonly what: string
  readonly seenBy: string
  /** Default: `refuse`. */
  readonly mode?: Mode
  readonly adapter?: TransportAdapter
  readonly breakIt: () => void
}

const { refuse, fail } = Http1Wire.prototype
const http2 = { refuse: Http2Wire.prototype.refuse, fail: Http2Wire.prototype.fail }

const BROKEN: readonly Broken[] = [
  { what: 'tells no client', seenBy: 'busy:', breakIt: () => vi.spyOn(Http1Wire.prototype, 'notifyBy').mockReturnValue() },
  {
    what: 'takes refused requests for good ones',
    seenBy: 'half of the first request: has a second',
    mode: 'retry-after',
    breakIt: () =>
      vi.spyOn(Http1Wire.prototype, 'refuse').mockImplementation(function (this: Http1Wire, exchange: WireExchange, answer: WireAnswer) {
        refuse.call(this, exchange, { ...answer, status: 200 })
      }),
  },
  {
    what: 'says that all is well when a handler has failed',
    seenBy: 'a handler that fails before it has answered',
    breakIt: () =>
      vi.spyOn(Http1Wire.prototype, 'fail').mockImplementation(function (this: Http1Wire, exchange: WireExchange, answer?: WireAnswer) {
        fail.call(this, exchange, answer && { ...answer, status: 200 })
      }),
  },
  {
    what: 'ends an answer that has failed in its middle',
    seenBy: 'a handler that fails in the middle',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'fail').mockImplementation(({ response }: WireExchange) => void response?.end()),
  },
  {
    what: 'knows no half of a request',
    seenBy: 'half of the first request: has a second',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'hasSent', 'get').mockReturnValue(false),
  },
  {
    what: 'takes what was never used for half a request',
    seenBy: 'never used',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'hasSent', 'get').mockReturnValue(true),
  },
  {
    what: 'takes every answer for begun',
    seenBy: 'a watch that has had no byte',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'hasBegun').mockReturnValue(true),
  },
  {
    what: 'takes no event stream for a watch',
    seenBy: 'an event stream: told to end',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'streamsEvents').mockReturnValue(false),
  },
  {
    what: 'takes every answer for complete',
    seenBy: 'a watch that does not end: broken off',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'onlyWaits').mockReturnValue(true),
  },
  {
    what: 'waits for no handler whose client has left',
    seenBy: 'a client that has left before its answer',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'mayStillEnd').mockReturnValue(false),
  },
  {
    what: 'loses only what is meant',
    seenBy: 'a request behind a watch',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'lostWith').mockImplementation((outstanding, isMeant) => [...outstanding].filter(isMeant)),
  },
  {
    what: 'breaks off with all that is older',
    seenBy: 'a watch that does not end behind a request',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'breakOff').mockReturnValue('destroyed'),
  },
  {
    what: 'closes nothing gently',
    seenBy: 'idle after a request',
    breakIt: () => vi.spyOn(Http1Wire.prototype, 'linger').mockReturnValue(),
  },
  {
    what: 'resets a client that still sends',
    seenBy: 'a request that is answered before all of its body',
    breakIt: () =>
      vi.spyOn(Http1Wire.prototype, 'linger').mockImplementation(function (this: Http1Wire) {
        this.socket.resetAndDestroy()
      }),
  },
  {
    what: 'takes a handshake that has ended for another connection',
    seenBy: 'a handshake that ends is no second connection',
    adapter: https,
    breakIt: () => vi.spyOn(Handshakes.prototype, 'ended').mockReturnValue(undefined),
  },
]

/** The same of HTTP/2. */
const OF_HTTP2: readonly Broken[] = [
  {
    what: 'tells no client',
    seenBy: 'several requests at once',
    breakIt: () => {
      vi.spyOn(Http2Wire.prototype, 'notify').mockReturnValue()
      vi.spyOn(Http2Wire.prototype, 'notifySoon').mockReturnValue()
    },
  },
  {
    what: 'takes no event stream for a watch',
    seenBy: 'an event stream: told to end',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'streamsEvents').mockReturnValue(false),
  },
  {
    what: 'takes refused requests for good ones',
    seenBy: 'in its handshake when idle ones are closed',
    mode: 'retry-after',
    adapter: h2,
    breakIt: () =>
      vi.spyOn(Http2Wire.prototype, 'refuse').mockImplementation(function (this: Http2Wire, exchange: WireExchange, answer: WireAnswer) {
        http2.refuse.call(this, exchange, { ...answer, status: 200 })
      }),
  },
  {
    what: 'says that all is well when a handler has failed',
    seenBy: 'a handler that fails before it has answered',
    breakIt: () =>
      vi.spyOn(Http2Wire.prototype, 'fail').mockImplementation(function (this: Http2Wire, exchange: WireExchange, answer?: WireAnswer) {
        http2.fail.call(this, exchange, answer && { ...answer, status: 200 })
      }),
  },
  {
    what: 'ends an answer that has failed in its middle',
    seenBy: 'a handler that fails in the middle',
    breakIt: () =>
      vi
        .spyOn(Http2Wire.prototype, 'fail')
        .mockImplementation(({ request }: WireExchange) => void (request as unknown as { stream: Writable }).stream.end()),
  },
  {
    what: 'takes every answer for begun',
    seenBy: 'a watch that has had no byte',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'hasBegun').mockReturnValue(true),
  },
  {
    what: 'takes every answer for complete',
    seenBy: 'a watch that does not end: broken off',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'onlyWaits').mockReturnValue(true),
  },
  {
    what: 'waits for no handler whose client has left',
    seenBy: 'a client that has left before its answer',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'mayStillEnd').mockReturnValue(false),
  },
  {
    what: 'does not hear of the end of a handler whose client has left',
    seenBy: 'a client that has left before its answer',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'onLateEnd').mockReturnValue(),
  },
  {
    what: 'loses nothing',
    seenBy: 'a watch that does not end: broken off',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'lostWith').mockReturnValue([]),
  },
  {
    what: 'breaks off with its connection',
    seenBy: 'a watch that does not end: broken off',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'breakOff').mockReturnValue('destroyed' as never),
  },
  {
    what: 'breaks nothing off',
    seenBy: 'a watch that does not end: broken off',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'breakOff').mockReturnValue('open'),
  },
  {
    what: 'closes nothing gently',
    // Not by one that is told and closes by itself.
    seenBy: 'half of a later request',
    breakIt: () => vi.spyOn(Http2Wire.prototype, 'linger').mockReturnValue(),
  },
  {
    what: 'resets what it closes',
    seenBy: 'half of a later request',
    breakIt: () =>
      vi.spyOn(Http2Wire.prototype, 'linger').mockImplementation(function (this: Http2Wire) {
        this.socket.resetAndDestroy()
      }),
  },
  {
    what: 'takes a handshake that has ended for another connection',
    seenBy: 'a handshake that ends is no second connection',
    adapter: h2,
    breakIt: () => vi.spyOn(Handshakes.prototype, 'ended').mockReturnValue(undefined),
  },
]

/** The same of a connection after its upgrade. */
const UPGRADED: readonly Broken[] = [
  {
    what: 'ends none whose handler never will',
    seenBy: 'upgraded, and its handler will never end it',
    breakIt: () => vi.spyOn(UpgradedWire.prototype, 'askedToEnd').mockReturnValue(),
  },
  {
    what: 'ends also what its handler is to end',
    seenBy: 'upgraded: told to end, says goodbye',
    breakIt: () =>
      vi.spyOn(UpgradedWire.prototype, 'askedToEnd').mockImplementation(function (this: UpgradedWire) {
        this.connection.endByForce()
      }),
  },
  {
    what: 'closes nothing gently',
    seenBy: 'upgraded, and there is no grace',
    breakIt: () =>
      vi.spyOn(UpgradedWire.prototype, 'linger').mockImplementation(function (this: UpgradedWire) {
        this.socket.resetAndDestroy()
      }),
  },
  {
    what: 'loses nothing',
    seenBy: 'upgraded, and its handler does not end it',
    breakIt: () => vi.spyOn(UpgradedWire.prototype, 'lostWith').mockReturnValue([]),
  },
  {
    what: 'goes on after its grace',
    seenBy: 'upgraded, and its handler does not end it',
    breakIt: () => vi.spyOn(UpgradedWire.prototype, 'breakOff').mockReturnValue('open'),
  },
]

const ALL = [
  ...BROKEN.map((one) => ({ protocol: 'HTTP/1.1', by: http1, ...one })),
  ...OF_HTTP2.map((one) => ({ protocol: 'HTTP/2', by: h2c, ...one })),
  ...UPGRADED.map((one) => ({ protocol: 'upgraded', by: http1, ...one })),
]

describe('the suite sees a transport that', () => {
  test.each(ALL)('$what ($protocol)', async ({ seenBy, breakIt, mode = 'refuse', by, adapter = by }) => {
    const cases = CASES.filter(({ name }) => name.startsWith(seenBy))
    expect(cases).toHaveLength(1)
    breakIt()
    try {
      await expect(Promise.all(cases.map((one) => conforms(adapter, mode, one, { toldWithinMs: 500 })))).rejects.toThrow()
    } finally {
      vi.restoreAllMocks()
    }
  })
})
