import { type Attributes, type Meter, metrics } from '@opentelemetry/api'
import { checkArguments, LIFE_ALLOWED, withFields, withOptions } from '../base/arguments.ts'
import { type ConnectionProtocol, measured, type Protocol } from '../base/protocol.ts'
import type { Life } from '../lifecycle/life.ts'

export interface MeterOptions {
  /** Default: the meter `quiesce` of the global provider. */
  readonly meter?: Meter
}

/**
 * Measures a life: `quiesce.connections`, how many connections are open, by protocol and TLS. It is
 * asked when the provider collects, and looks at every connection then; between that it costs
 * nothing. Its attributes are those of the semantic conventions: `network.protocol.name` (`http`,
 * `websocket`, `tunnel`; `tls` while a handshake is under way), `network.protocol.version` of HTTP,
 * and `tls.protocol.version`, which is not there without TLS.
 *
 * @returns disposed of, it is measured no more; the end of the life does the same. A second time it
 * does nothing
 * @example
 * meterLifecycle(life)
 * await life.run()
 */
export function meterLifecycle(life: Pick<Life, 'counts' | 'events$'>, options: MeterOptions = {}): Disposable {
  checkArguments(
    'meterLifecycle(life, options?)',
    [life, withFields(LIFE_ALLOWED, 'events$', 'counts')],
    [options, withOptions<MeterOptions>('meter')],
  )
  const { meter = metrics.getMeter('quiesce') } = options
  const connections = meter.createObservableUpDownCounter('quiesce.connections', {
    description: 'Open connections, by protocol and version of TLS',
    unit: '{connection}',
  })
  const measure: Parameters<typeof connections.addCallback>[0] = (result) => {
    for (const kind of measured(life.counts().connections.byProtocol)) result.observe(kind.open, attributesOf(kind))
  }
  connections.addCallback(measure)
  const end = (): void => connections.removeCallback(measure)
  const subscription = life.events$.subscribe({ complete: end })
  return {
    [Symbol.dispose]: () => {
      end()
      subscription.unsubscribe()
    },
  }
}

const PROTOCOLS: Readonly<Record<Protocol, Attributes>> = {
  'HTTP/1.1': { 'network.protocol.name': 'http', 'network.protocol.version': '1.1' },
  'HTTP/2': { 'network.protocol.name': 'http', 'network.protocol.version': '2' },
  WebSocket: { 'network.protocol.name': 'websocket' },
  tunnel: { 'network.protocol.name': 'tunnel' },
  'TLS handshake': { 'network.protocol.name': 'tls' },
}

const attributesOf = ({ protocol, tls }: ConnectionProtocol): Attributes => ({
  ...PROTOCOLS[protocol],
  ...(tls !== 'none' && tls !== 'pending' && { 'tls.protocol.version': tls.replace(/^TLSv/, '') }),
})
