import { after, type EventBackend, type PluginFailed } from './backend.ts'
import { type AuditEvent, eventJson, sorted } from './event.ts'

export interface TruncateSettings {
  /** Bytes of one event, as JSON. */
  readonly maxEventSize: number
  /** Bytes of the events that are given on at a time. */
  readonly maxBatchSize: number
}

/**
 * Takes the bodies out of events that are too large, drops those that still are, and splits what is
 * too large together.
 * @see kubernetes/apiserver plugin/pkg/audit/truncate/truncate.go
 */
export function truncateBackend(
  backend: EventBackend,
  { maxEventSize, maxBatchSize }: TruncateSettings,
  failed: PluginFailed,
): EventBackend {
  let dropped = 0
  return {
    run: (context) => backend.run(context),
    processEvents: (events) => {
      const batches: AuditEvent[][] = [[]]
      let batchSize = 0
      let tooLarge = 0
      for (const whole of events) {
        let event = whole
        let size = sizeOf(event)
        if (size > maxEventSize && (event.level === 'Request' || event.level === 'RequestResponse')) {
          event = withoutBodies(event)
          size = sizeOf(event)
        }
        if (size > maxEventSize) {
          tooLarge++
          continue
        }
        if (batchSize > 0 && batchSize + size > maxBatchSize) {
          batches.push([])
          batchSize = 0
        }
        batchSize += size
        batches.at(-1)?.push(event)
      }
      dropped += tooLarge
      if (tooLarge > 0) failed('truncate', new Error('event is too large even after truncating'), tooLarge)
      return batches
        .filter(({ length }) => length > 0)
        .reduce<boolean | Promise<boolean>>((all, batch) => {
          const verdict = backend.processEvents(batch)
          return after(all, (isStored) => after(verdict, (isStoredHere) => isStored && isStoredHere) as boolean)
        }, true)
    },
    shutdown: (context) => backend.shutdown(context),
    counts: () => {
      const counts = backend.counts()
      return { ...counts, lost: counts.lost + dropped }
    },
  }
}

const sizeOf = (event: AuditEvent): number => Buffer.byteLength(eventJson(event))

function withoutBodies(event: AuditEvent): AuditEvent {
  const { requestObject: _, responseObject: __, ...rest } = event
  return { ...rest, annotations: sorted({ ...event.annotations, 'audit.k8s.io/truncated': 'true' }) }
}
