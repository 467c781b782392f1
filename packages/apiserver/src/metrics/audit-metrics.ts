import { type AuditCounters, auditCounters } from '../audit/auditing.ts'
import type { MetricFamily } from '../engine.ts'

/**
 * What was audited, under upstream's names; nothing without auditing, which is said as well.
 * @see kubernetes/apiserver pkg/audit/metrics.go
 */
export function auditMetrics({ events, errors, levels, rejected }: AuditCounters = auditCounters()): readonly MetricFamily[] {
  const counter = (name: string, help: string, samples: MetricFamily['samples']): MetricFamily => ({ name, help, type: 'counter', samples })
  const by = (label: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .filter(([, value]) => value > 0)
      .map(([name, value]) => ({ labels: { [label]: name }, value }))
  const one = (value: number) => [{ labels: {}, value }]
  return [
    counter('apiserver_audit_event_total', 'Audit events that the backend was given.', one(events)),
    counter('apiserver_audit_error_total', 'Audit events that a plugin could not deliver.', by('plugin', errors)),
    counter('apiserver_audit_level_total', 'Audited requests, by level.', by('level', levels)),
    counter(
      'apiserver_audit_requests_rejected_total',
      'Requests that were refused because their audit event could not be recorded.',
      one(rejected),
    ),
  ]
}
