import type { AnyStateMachine } from 'xstate'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import type { Environment } from './environment.ts'
import type { ActorState, Logic, Path } from './state.ts'
import { invokedBy } from './vocabulary.ts'

/** The fields of a choice that this file reads. choice.ts, where its type is, imports this file. */
interface Happening {
  readonly kind: string
  readonly path: Path
  readonly label: string
}

/** What `alike` names, each child by its path, and the order in which those of a list end. */
export class Alike {
  /** The paths that end before each. */
  readonly #endBefore: ReadonlyMap<string, readonly string[]>
  /** What has run, by its path. */
  readonly #met = new Map<string, Logic>()
  readonly #machineOf = new Map<Happening, Path | undefined>()

  constructor(lists: Environment['alike'] = []) {
    this.#endBefore = new Map(lists.flatMap((paths) => paths.map((path, i) => [path, paths.slice(0, i)] as const)))
  }

  /** Whether one runs that is like the child and ends before it. */
  waits(child: ActorState, parent: ActorState, path: Path): boolean {
    if (this.#endBefore.size === 0) return false
    const text = below(path, child)
    if (!this.#met.has(text)) this.#met.set(text, child.local.logic)
    const earlier = this.#endBefore.get(text)
    if (earlier === undefined) return false
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

  /**
   * @param root the machine
   * @throws ModelError ERR_MODEL_UNKNOWN for a path that no child has had, and none is declared for
   */
  assertKnown(root: AnyStateMachine): void {
    for (const path of this.#endBefore.keys()) {
      if (this.#met.has(path)) continue
      const parent = [...this.#met.keys()].filter((met) => path.startsWith(`${met}/`)).reduce((a, b) => (b.length > a.length ? b : a), '')
      const machine = parent === '' ? root : this.#met.get(parent)?.machine
      const declared = machine ? invokedBy(machine) : []
      const id = parent === '' ? path : path.slice(parent.length + 1)
      // What a child that no run starts would have started is not known.
      if (declared.some((child) => id === child || id.startsWith(`${child}/`))) continue
      const known = new Set([...declared.map((child) => (parent === '' ? child : `${parent}/${child}`)), ...this.#met.keys()])
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
