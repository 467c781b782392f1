import type { AnyStateMachine } from 'xstate'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import type { Environment } from './environment.ts'
import type { ActorState, Path } from './state.ts'
import { invokedBy } from './vocabulary.ts'

/** As much of a choice as is looked at. */
interface Happening {
  readonly kind: string
  readonly path: Path
  readonly label: string
}

/** What `alike` names, each child by its path, and the order in which those of a list end. */
export class Alike {
  /** The paths that end before each. */
  readonly #endBefore: ReadonlyMap<string, readonly string[]>
  readonly #met = new Set<string>()
  /** The paths of actors that have had children. */
  readonly #parents = new Set<string>()
  readonly #machineOf = new Map<Happening, Path | undefined>()

  constructor(lists: Environment['alike'] = []) {
    this.#endBefore = new Map(lists.flatMap((paths) => paths.map((path, i) => [path, paths.slice(0, i)] as const)))
  }

  /** Whether one runs that is like the child and ends before it. */
  waits(child: ActorState, parent: ActorState, path: Path): boolean {
    if (this.#endBefore.size === 0) return false
    this.#parents.add(path.text)
    const text = below(path, child)
    const earlier = this.#endBefore.get(text)
    if (earlier === undefined) return false
    this.#met.add(text)
    return parent.children.some((other) => earlier.includes(below(path, other)))
  }

  /**
   * Looks whether a machine has ended with the first thing that has happened in it. With a second
   * one, the two would come in more orders than names can tell apart.
   * @throws ModelError ERR_MODEL_OPTION
   */
  assertEnded(choice: Happening, root: ActorState): void {
    if (this.#endBefore.size === 0) return
    if (!this.#machineOf.has(choice)) this.#machineOf.set(choice, this.#machine(choice))
    const path = this.#machineOf.get(choice)
    if (path && actorAt(root, path))
      throw new ModelError(
        'ERR_MODEL_OPTION',
        `alike: "${path.text}" goes on after "${choice.label}", allowed: children that end with the first thing that happens in them`,
      )
  }

  /** The machine in the lists in which it happens. */
  #machine({ path, kind }: Happening): Path | undefined {
    let at: Path | undefined = kind === 'timer' ? path : path.parent
    while (at && !this.#endBefore.has(at.text)) at = at.parent
    return at
  }

  /** @throws ModelError ERR_MODEL_UNKNOWN for a path that no child may have */
  assertKnown(machine: AnyStateMachine): void {
    const known = new Set([...invokedBy(machine), ...this.#met])
    for (const path of this.#endBefore.keys()) {
      // What an actor that no run starts would have started is not known.
      const isBelowUnstarted = [...known].some((parent) => path.startsWith(`${parent}/`) && !this.#parents.has(parent))
      if (known.has(path) || isBelowUnstarted) continue
      const what = path.includes('/') ? 'child has the path' : 'child of the root has the id'
      throw new ModelError('ERR_MODEL_UNKNOWN', `alike: no ${what} "${path}"${hint(path, known)}`)
    }
  }
}

const below = ({ text }: Path, { id }: ActorState): string => (text === '' ? id : `${text}/${id}`)

function actorAt(root: ActorState, { parent, id }: Path): ActorState | undefined {
  if (!parent) return root
  return actorAt(root, parent)?.children.find((child) => child.id === id)
}
