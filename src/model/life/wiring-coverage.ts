import { type Exploration, type Property, type Untaken, untaken, type Violation } from '#model'
import { stateKey } from '../../machines/region.ts'
import type { Wiring } from '../../machines/wiring.ts'
import { signalOf } from './facts.ts'

/**
 * Every edge of the wiring is taken in some run: a phase that waits for a signal hears it. An edge
 * that no run takes is a mistake of the table, unless what it waits for comes from outside and the
 * model does not offer it.
 */
export const everyEdgeTaken = (id: string, wiring: Wiring): Property => ({
  id,
  text: 'every edge of the wiring is taken somewhere',
  violation(exploration): Violation | undefined {
    const possible = possibleSignals(exploration, wiring)
    const missing = untaken(exploration).filter(({ machine }) => machine === exploration.model.machine.id)
    // Of several signals, one may always be the last and another never: an edge is taken when its
    // signal is heard at all.
    const isNever = ({ source, event }: Untaken): boolean =>
      missing.filter((other) => other.source === source && other.event === event).length === transitionsFor(exploration, source, event)
    const said = new Set(exploration.model.steps.effects.all.map(signalOf))
    for (const [phase, { after, unless, fires }] of Object.entries(wiring)) {
      if (!after.every((signal) => possible.has(signal))) continue
      if (!said.has(fires)) return { finding: `${phase} never fires ${fires}`, edges: [] }
      const edges = unless === undefined ? after : [...after, unless]
      const never = missing.find(
        (other) =>
          other.source.startsWith(`${exploration.model.machine.id}.running.${stateKey(phase)}.`) &&
          edges.includes(other.event) &&
          (unless === undefined || possible.has(unless)) &&
          isNever(other),
      )
      if (never) return { finding: `${phase} never hears ${never.event} in ${never.source} (${never.why})`, edges: [] }
    }
    return undefined
  },
})

const transitionsFor = ({ model }: Exploration, source: string, event: string): number =>
  model.machine.getStateNodeById(source).transitions.get(event)?.length ?? 0

/** The signals that can fire when only those events come from outside that the model offers. */
function possibleSignals({ model }: Exploration, wiring: Wiring): ReadonlySet<string> {
  const offered = model.choices.all.all.flatMap(({ kind, event }) => (kind === 'event' ? [event.type] : []))
  const possible = new Set<string>(offered.filter((type) => type === 'readyz.passed'))
  if (offered.includes('start')) possible.add('Start')
  if (offered.some((type) => !possible.has(type))) possible.add('StopRequested')
  for (let size = -1; size !== possible.size; ) {
    size = possible.size
    for (const { after, fires } of Object.values(wiring)) if (after.every((signal) => possible.has(signal))) possible.add(fires)
  }
  return possible
}
