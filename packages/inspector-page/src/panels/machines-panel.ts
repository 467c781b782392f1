import { type MachineNode, machineTree } from '../core/machines.ts'
import { element, Icon, make, type Part, Parts, setAttribute, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'

const STATUS_SHAPES = { active: 'working', done: 'ok', error: 'failed', stopped: 'skipped', 'cut off': 'skipped' } as const
const STATUS_WORDS = { active: '', done: 'done', error: 'failed', stopped: 'stopped', 'cut off': 'when it ended' } as const

/** The tree of actors: what each machine is in, and what it remembers. */
export class MachinesPanel implements Panel {
  readonly #ended = element<HTMLInputElement>('machines-ended')
  readonly #empty = make('p', 'muted')
  readonly #tree: Parts<MachineNode>
  #shown: Frame['view']['actors'] | undefined

  constructor(redraw: () => void) {
    const list = make('ul', 'machines')
    element('machines-body').append(this.#empty, list)
    this.#tree = new Parts(list, ({ id }) => id, machinePart)
    this.#ended.addEventListener('change', () => {
      this.#shown = undefined
      redraw()
    })
  }

  draw({ view }: Frame): void {
    setText(
      this.#empty,
      view.opening?.source === 'report' ? 'A report names no machines; a journal does.' : 'No machine has been seen yet.',
    )
    if (view.actors === this.#shown) return
    this.#shown = view.actors
    const tree = machineTree(view)
    this.#empty.hidden = tree.length > 0
    // A life that is over is shown as it ended.
    const all = this.#ended.checked || view.exitCode !== undefined
    this.#tree.show(all ? tree : tree.flatMap(stillActive))
  }
}

/** Without those that have ended and have no active actor below them. */
function stillActive(node: MachineNode): MachineNode[] {
  const children = node.children.flatMap(stillActive)
  return node.status === 'active' || children.length > 0 ? [{ ...node, children }] : []
}

function machinePart(): Part<MachineNode> {
  const icon = new Icon('working')
  const name = make('span', 'name')
  const state = make('span', 'state')
  const status = make('span', 'muted')
  const regions = make('dl', 'regions')
  const context = make('pre', 'context')
  const details = make('details', '', make('summary', '', icon.node, name, state, status), regions, context)
  const children = make('ul')
  const below = new Parts(children, ({ id }: MachineNode) => id, machinePart)
  const lines = new Parts(regions, ([region]: MachineNode['regions'][number]) => region, regionPart)
  let shown: MachineNode | undefined
  const showInside = (): void => {
    if (!shown || !details.open) return
    lines.show(shown.regions)
    regions.hidden = shown.regions.length === 0
    setText(context, inText(shown.context))
  }
  details.addEventListener('toggle', showInside)
  return {
    node: make('li', '', details, children),
    show: (node) => {
      shown = node
      icon.show(STATUS_SHAPES[node.status])
      setAttribute(details, 'data-status', node.status)
      setText(name, node.name)
      setText(state, node.kind === 'effect' ? 'effect' : node.state)
      setText(status, STATUS_WORDS[node.status])
      showInside()
      below.show(node.children)
      children.hidden = node.children.length === 0
    },
  }
}

function regionPart([name]: MachineNode['regions'][number]): Part<MachineNode['regions'][number]> {
  const state = make('dd')
  return { node: make('div', '', make('dt', '', name), state), show: ([, value]) => setText(state, value) }
}

function inText(context: unknown): string {
  const isEmpty = typeof context === 'object' && context !== null && Object.keys(context).length === 0
  return context === undefined || context === null || isEmpty ? 'no context' : JSON.stringify(context, undefined, 2)
}
