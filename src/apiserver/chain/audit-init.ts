import { randomUUID } from 'node:crypto'
import type { PlacedFilter } from './filter.ts'

/**
 * Gives each request an id: its client's, as it is, or a new one. It is sent with the answer.
 * @see kubernetes/apiserver pkg/endpoints/filters/audit_init.go WithAuditInit
 */
export const auditInit: PlacedFilter = {
  name: 'audit-init',
  admit: (exchange) => {
    const given = exchange.request.headers['audit-id']
    exchange.auditId = typeof given === 'string' && given !== '' ? given : randomUUID()
    if (!exchange.response.hasHeader('Audit-ID')) exchange.response.setHeader('Audit-ID', exchange.auditId)
    return true
  },
}
