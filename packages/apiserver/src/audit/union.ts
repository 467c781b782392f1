import { toError } from '../engine.ts'
import { after, type EventBackend, sumOf } from './backend.ts'

/**
 * Several backends as one: each is given all events, in order, and false is what one of them says.
 * They are run side by side and shut down one after the other, each whatever became of the others.
 * @see kubernetes/apiserver pkg/audit/union.go
 */
export function unionBackend(backends: readonly EventBackend[]): EventBackend {
  return {
    run: async (context) => {
      const ends = await Promise.allSettled(backends.map(async (backend) => backend.run(context)))
      throwAll(ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : [])))
    },
    processEvents: (events) =>
      backends.reduce<boolean | Promise<boolean>>((all, backend) => {
        const verdict = backend.processEvents(events)
        return after(all, (isStored) => after(verdict, (isStoredHere) => isStored && isStoredHere) as boolean)
      }, true),
    shutdown: async (context) => {
      const failures: unknown[] = []
      for (const backend of backends)
        try {
          await backend.shutdown(context)
        } catch (thrown) {
          failures.push(thrown)
        }
      throwAll(failures)
    },
    actors: () => backends.flatMap((backend) => backend.actors?.() ?? []),
    counts: () => sumOf(backends.map((backend) => backend.counts())),
  }
}

function throwAll(failures: readonly unknown[]): void {
  if (failures.length === 1) throw toError(failures[0])
  if (failures.length > 1) throw new AggregateError(failures, failures.map((each) => toError(each).message).join('; '))
}
