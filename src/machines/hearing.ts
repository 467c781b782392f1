import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, StateValue } from 'xstate'

/**
 * The machine asks only those regions of its state `parallel` for a transition that know the event.
 * xstate asks every active state, by a key that it makes of each state and the event; a life has
 * thirty regions, of which an event concerns a few (docs/decisions/0021). Which transitions are
 * taken, and in which order, is as before: `test/machines/hearing.test.ts` compares both.
 *
 * What `provide` makes of it is the same. Returns what it was given.
 */
export function askingConcerned<M extends AnyStateMachine>(machine: M, parallel: string): M {
  const ask = machine.getTransitionData.bind(machine)
  const node = machine.states[parallel] as AnyStateNode
  let concerned: ((type: string) => ReadonlySet<string>) | undefined
  machine.getTransitionData = (snapshot: AnyMachineSnapshot, event) => {
    const regions: Readonly<Record<string, StateValue>> | undefined = snapshot.value[parallel]
    if (!regions) return ask(snapshot, event)
    concerned ??= concernedBy(node)
    return ask({ ...snapshot, value: { [parallel]: only(concerned(event.type), regions) } }, event)
  }
  const provide = machine.provide.bind(machine)
  machine.provide = (implementations) => askingConcerned(provide(implementations), parallel)
  return machine
}

/**
 * In the order in which xstate would ask them, which is that of their entry and not of the machine.
 */
function only(concerned: ReadonlySet<string>, regions: Readonly<Record<string, StateValue>>): Record<string, StateValue> {
  const asked: Record<string, StateValue> = {}
  for (const key in regions) if (concerned.has(key)) asked[key] = regions[key] as StateValue
  return asked
}

/** The regions with a transition for an event, by its type. */
function concernedBy(parallel: AnyStateNode): (type: string) => ReadonlySet<string> {
  const known = Object.entries(parallel.states).map(([key, region]) => [key, descriptorsOf(region)] as const)
  const byPattern = known.flatMap(([key, descriptors]) => (descriptors.some((descriptor) => descriptor.endsWith('*')) ? [key] : []))
  const byType = new Map<string, Set<string>>()
  for (const [key, descriptors] of known)
    for (const type of descriptors) byType.set(type, (byType.get(type) ?? new Set(byPattern)).add(key))
  const others = new Set(byPattern)
  return (type) => byType.get(type) ?? others
}

const descriptorsOf = (node: AnyStateNode): string[] => [...node.transitions.keys(), ...Object.values(node.states).flatMap(descriptorsOf)]
