import type { Straggler } from '../base/events.ts'
import type { Gauges } from '../report/gauges.ts'
import type { Poll } from './polled.ts'
import type { GaugesEntry } from './protocol.ts'

/** What is going on now. */
export const gaugesPoll = (read: () => Gauges): Poll<GaugesEntry> => ({
  read: () => ({ kind: 'gauges', ...read() }),
  signatureOf,
})

/** Everything but the ages: they are the same as long as it is the same that blocks. */
function signatureOf({ blocking, ...counts }: Gauges, now: number): string {
  const names = Object.values(blocking).map((stragglers: readonly Straggler[]) =>
    stragglers.map(({ name, ageMs }) => [name, Math.round(now - ageMs)]),
  )
  return JSON.stringify([counts, names])
}
