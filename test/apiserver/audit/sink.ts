import { AuditCounter, type EventBackend } from '#apiserver/audit/backend.ts'
import type { AuditEvent } from '#apiserver/audit/event.ts'
import type { AuditCounts } from '#src/index.ts'

/** An event with as much as a test looks at. */
export const event = (id: number | string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  kind: 'Event',
  apiVersion: 'audit.k8s.io/v1',
  level: 'Metadata',
  auditID: String(id),
  stage: 'ResponseComplete',
  requestURI: '/',
  verb: 'get',
  user: {},
  requestReceivedTimestamp: '2026-01-01T00:00:00.000000Z',
  stageTimestamp: '2026-01-01T00:00:00.000000Z',
  ...more,
})

export const events = (count: number, from = 0): AuditEvent[] => Array.from({ length: count }, (_, index) => event(from + index))

/** A backend that keeps what it is given, call by call, and answers as it is told. */
export class Sink implements EventBackend {
  readonly calls: (readonly AuditEvent[])[] = []
  readonly log: string[] = []
  /** What a call answers; a function decides for each. */
  answer: boolean | Promise<boolean> | (() => boolean | Promise<boolean>) = true
  readonly #tally = new AuditCounter()

  run(): void {
    this.log.push('run')
  }

  processEvents(batch: readonly AuditEvent[]): boolean | Promise<boolean> {
    this.calls.push(batch)
    this.#tally.accepted += batch.length
    const answer = typeof this.answer === 'function' ? this.answer() : this.answer
    if (typeof answer === 'boolean') return this.#tally.settle(batch.length, answer)
    return answer.then((isStored) => this.#tally.settle(batch.length, isStored))
  }

  shutdown(): void {
    this.log.push('shutdown')
  }

  counts(): AuditCounts {
    return this.#tally.counts()
  }

  get ids(): string[] {
    return this.calls.flat().map(({ auditID }) => auditID)
  }

  get sizes(): number[] {
    return this.calls.map(({ length }) => length)
  }
}
