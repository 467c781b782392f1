import { randomUUID } from 'node:crypto'
import type { ApiExchange } from '../api-exchange.ts'
import type { PlacedFilter } from './filter.ts'
import { stand } from './standing-header.ts'

const header = { name: 'Audit-ID', value: ({ auditId }: ApiExchange) => auditId }

/**
 * Gives each request an id: its client's, as it is, or a new one. It is sent with the answer.
 * @see kubernetes/apiserver pkg/endpoints/filters/audit_init.go WithAuditInit
 */
export const auditInit: PlacedFilter = {
  name: 'audit-init',
  header,
  admit: (exchange) => {
    const given = exchange.request.headers['audit-id']
    exchange.auditId = typeof given === 'string' && given !== '' ? given : randomUUID()
    stand(header, exchange)
    return true
  },
}
