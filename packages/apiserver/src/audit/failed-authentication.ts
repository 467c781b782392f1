import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import type { ApiExchange } from '../api-exchange.ts'
import { queryValue } from '../engine.ts'
import { clientSocketOf } from '../request/client-socket.ts'
import type { Failure } from '../status-errors.ts'
import type { RecordFailure } from './auditing.ts'

/**
 * Records a request whose credentials were refused; with what kinds of them it has brought, where
 * its client cannot be told.
 * @see kubernetes/apiserver pkg/endpoints/filters/authn_audit.go WithFailedAuthenticationAudit
 */
export function recordFailedAuthentication(exchange: ApiExchange, failure: Failure, record: RecordFailure): void {
  const attempted = credentialsOf(exchange.request)
  const message =
    attempted.length > 0 ? `Authentication failed, attempted: ${attempted.join(', ')}` : 'Authentication failed, no credentials provided'
  record(exchange, failure, message)
}

function credentialsOf(request: IncomingMessage): string[] {
  const { headers, url = '/' } = request
  const [scheme = '', credentials = ''] = (headers.authorization ?? '').trim().split(' ')
  const isOf = (name: string): boolean => scheme.toLowerCase() === name && credentials !== ''
  const socket = clientSocketOf(request) as Partial<TLSSocket> | undefined
  const hasCertificate = Object.keys(socket?.getPeerCertificate?.() ?? {}).length > 0
  return [
    ...(isOf('basic') ? ['basic'] : []),
    ...(isOf('bearer') ? ['bearer'] : []),
    ...(queryValue(url, 'access_token').trim() === '' ? [] : ['access_token']),
    ...(hasCertificate ? ['x509'] : []),
  ]
}
