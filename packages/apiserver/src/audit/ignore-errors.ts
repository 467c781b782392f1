import { after, type EventBackend } from './backend.ts'

/**
 * A request goes on whether or not it could be recorded: the mode `blocking`.
 * @see kubernetes/apiserver pkg/server/options/audit.go ignoreErrorsBackend
 */
export const ignoreErrors = (backend: EventBackend): EventBackend => ({
  run: (context) => backend.run(context),
  processEvents: (events) => after(backend.processEvents(events), () => true),
  shutdown: (context) => backend.shutdown(context),
  counts: () => backend.counts(),
})
