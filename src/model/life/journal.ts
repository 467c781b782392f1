import type { ActorState, DeliveryListener, Effect, Exploration, Live, LocalState, Step, Trace } from '#model'
import type { LifecycleEvent } from '../../base/events.ts'
import { describedPhases } from '../../inspector/described-phases.ts'
import type { JournalEntry } from '../../inspector/protocol.ts'
import type { LifePlan } from '../../machines/lifecycle.ts'
import { factOf } from './facts.ts'

/**
 * A counter-example as a journal, so that the inspector shows it like a life that ran. Time is
 * abstract in the model: `at` is the number of the step.
 */
export function journalOf({ model, graph }: Exploration, { edges, finding }: Trace, plan: LifePlan): JournalEntry[] {
  const journal = new TraceJournal()
  journal.add({
    kind: 'opening',
    format: 1,
    source: 'counter-example',
    title: finding,
    wallAtStart: new Date(0).toISOString(),
    phases: describedPhases(plan),
    deadlineMs: plan.input.profiles.default.deadlineMs,
  })
  let actors = journal.follow(new Map(), model.start(journal).freeze())
  edges.forEach((edge, i) => {
    const { from, choice } = graph.edge(edge)
    journal.at = i + 1
    if (choice.kind !== 'event') journal.add({ kind: 'sent', to: idOf(choice.path.text), event: { type: choice.label } })
    actors = journal.follow(actors, model.take(graph.states[from] as ActorState, choice, journal).freeze())
  })
  return journal.entries
}

type Entry = JournalEntry extends infer E ? (E extends JournalEntry ? Omit<E, 'n' | 'at'> : never) : never

class TraceJournal implements DeliveryListener {
  readonly entries: JournalEntry[] = []
  at = 0

  add(entry: Entry): void {
    this.entries.push({ n: this.entries.length + 1, at: this.at, ...entry } as JournalEntry)
  }

  sent(from: Live | undefined, to: Live, { type }: { readonly type: string }): void {
    this.add({ kind: 'sent', ...(from && { from: idOfLive(from) }), to: idOfLive(to), event: { type } })
  }

  stepped(actor: Live, _before: LocalState, { local: { configuration, status }, transitions }: Step): void {
    const taken = transitions.map(({ eventType: on, source, target }) => {
      const [to] = (target ?? []) as readonly { readonly id: string }[]
      return { on, from: source.id, ...(to && { to: to.id }) }
    })
    this.add({ kind: 'state', actor: idOfLive(actor), value: configuration?.value, context: configuration?.context, status, taken })
  }

  said(_actor: Live, effect: Effect): void {
    const fact = factOf(effect)
    if (fact) this.add({ kind: 'fact', event: { at: this.at, ...fact } as LifecycleEvent })
  }

  /** Which actors have begun and ended since; the delivery itself does not say. */
  follow(before: ReadonlyMap<string, ActorState>, root: ActorState): ReadonlyMap<string, ActorState> {
    const after = actorsOf(root, '')
    for (const path of before.keys()) if (!after.has(path)) this.add({ kind: 'actor.stopped', actor: idOf(path) })
    for (const [path, { id, local }] of after) {
      if (before.has(path)) continue
      const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
      const { machine } = local.logic
      const name = path === '' ? local.logic.name : id
      this.add({
        kind: 'actor',
        actor: idOf(path),
        ...(path !== '' && { parent: idOf(parent) }),
        name,
        ...(machine && { machine: machine.id }),
      })
    }
    return after
  }
}

/** Every actor by its path, parents first. */
const actorsOf = (state: ActorState, path: string): Map<string, ActorState> =>
  new Map([[path, state], ...state.children.flatMap((child) => [...actorsOf(child, path ? `${path}/${child.id}` : child.id)])])

/** The root has no path; a reader wants a name. */
const idOf = (path: string): string => path || 'root'
const idOfLive = ({ id, parent }: Live): string => (parent?.parent ? `${idOfLive(parent)}/${id}` : idOf(id))
