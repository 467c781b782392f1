import type { Clock, EventLog } from '../engine.ts'
import { formatGoDuration } from '../go-duration.ts'
import { clientSocketOf } from '../request/client-socket.ts'
import { TAKEN_OVER } from '../request/upgrade.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'

/**
 * One line for each request that is over, at debug: nothing is made where that level is not
 * written.
 * @see kubernetes/apiserver pkg/server/httplog/httplog.go WithLogging
 */
export const httpLog = {
  name: 'http-log',
  part: 'outer',
  upstream: 'WithHTTPLogging',
  why: 'refusals are logged, too',
  make: ({ logsRequests, log, clock }: HttpLogNeeds) => (logsRequests ? filterOf(log, clock) : undefined),
} as const satisfies ChainFilter<never>

export interface HttpLogNeeds {
  /** Nothing is logged without a logger. */
  readonly logsRequests: boolean
  readonly log: Pick<EventLog, 'writes' | 'debug'>
  readonly clock: Clock
}

const filterOf = (log: HttpLogNeeds['log'], clock: Clock): MadeFilter => ({
  admit: ({ request }) => {
    // A socket that has closed knows its address only if that was asked before.
    if (log.writes('debug')) void clientSocketOf(request)?.remoteAddress
    return true
  },
  over: (exchange) => {
    if (!log.writes('debug')) return
    const { request, response, info, auditId, receivedAt } = exchange
    const { method = 'GET', url = '/', headers } = request
    const { remoteAddress = '', remotePort = '' } = clientSocketOf(request) ?? {}
    log.debug(
      {
        verb: info.isResourceRequest ? info.verb.toUpperCase() : method,
        URI: url,
        latency: formatGoDuration(clock.now() - receivedAt),
        userAgent: headers['user-agent'] ?? '',
        contentType: headers['content-type'] ?? '',
        'audit-ID': auditId,
        srcIP: `${remoteAddress}:${remotePort}`,
        ...(TAKEN_OVER.of(exchange) ? { hijacked: true } : { resp: response.headersSent ? response.statusCode : 0 }),
      },
      'HTTP',
    )
  },
})
