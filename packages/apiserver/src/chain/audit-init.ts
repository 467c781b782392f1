import { randomUUID } from 'node:crypto'
import type { ApiExchange } from '../api-exchange.ts'
import { firstHeader } from '../first-header.ts'
import { sendBodyAsBytes } from './body-as-bytes.ts'
import { setDefault } from './default-headers.ts'
import type { ChainFilter, MadeFilter } from './filter.ts'

const header = { name: 'Audit-ID', value: ({ auditId }: ApiExchange) => auditId }

/**
 * Gives each request an id: its client's, as it is, or a new one. It is sent with the answer. Of
 * several the first counts.
 * @see kubernetes/apiserver pkg/endpoints/filters/audit_init.go WithAuditInit
 */
export const auditInit = {
  name: 'audit-init',
  part: 'outer',
  upstream: 'WithAuditInit',
  why: 'every answer, refusals too, carries the id of its request',
  make: () => filter,
} as const satisfies ChainFilter<never>

const filter: MadeFilter = {
  header,
  admit: (exchange) => {
    const given = firstHeader(exchange.request, 'audit-id')
    if (given === '') exchange.auditId = randomUUID()
    else {
      exchange.auditId = given
      const isHttp1 = exchange.request.httpVersionMajor === 1
      if (isHttp1 && /[^\x20-\x7e]/.test(given)) sendBodyAsBytes(exchange.response)
    }
    setDefault(header, exchange)
    return true
  },
}
