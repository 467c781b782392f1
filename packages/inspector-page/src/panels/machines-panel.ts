import { type MachineNode, machineTree } from '../core/machines.ts'
import { element, Icon, KeyedParts, make, type Part, setAttribute, setStyle, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'
import { VirtualList } from '../virtual-list.ts'

const STATUS_WORDS = { active: '', done: 'done', error: 'failed', stopped: 'stopped', 'cut off': 'when it ended' } as const
const ROW_REM = 1.85

/** One actor of the tree, as far below the root as it is. */
interface Listed {
  readonly node: MachineNode
  readonly level: number
}

/** The tree of actors: what each machine is in, and what it remembers. */
export class MachinesPanel implements Panel {
  readonly #ended = element<HTMLInputElement>('machines-ended')
  readonly #empty = make('p', 'muted')
  readonly #list = make('ul', 'machines')
  readonly #rows: VirtualList<Listed>
  /** What the open ones say beside their line, in pixels. */
  readonly #open = new Map<string, number>()
  #items: readonly Listed[] = []
  #shown: readonly unknown[] = []
  /** The one line that Tab reaches; arrows go on from there. */
  #stop: string | undefined

  constructor(redraw: () => void) {
    const body = element('machines-body')
    body.append(this.#empty, this.#list)
    this.#rows = new VirtualList({
      scroll: body,
      list: this.#list,
      keyOf: ({ node }: Listed) => node.id,
      create: (listed) => this.#part(listed),
      rem: () => ROW_REM,
      morePx: ({ node }) => this.#open.get(node.id) ?? 0,
    })
    this.#ended.addEventListener('change', redraw)
    this.#list.addEventListener('keydown', (event) => this.#key(event))
    this.#list.addEventListener('focusin', ({ target }) => {
      this.#stop = target instanceof Element ? (target.closest('[data-actor]')?.getAttribute('data-actor') ?? undefined) : undefined
      this.#show()
    })
  }

  draw({ view }: Frame): void {
    setText(
      this.#empty,
      view.opening?.source === 'report' ? 'A report names no machines; a journal does.' : 'No machine has been seen yet.',
    )
    // A life that is over is shown as it ended.
    const all = this.#ended.checked || view.life.exitCode !== undefined
    const shown = [view.actors, all]
    if (shown.every((each, i) => each === this.#shown[i])) return
    this.#shown = shown
    const tree = machineTree(view)
    this.#empty.hidden = tree.length > 0
    this.#items = listed(all ? tree : tree.flatMap(stillActive), 1)
    this.#show()
  }

  #show(): void {
    const at = this.#items.findIndex(({ node }) => node.id === this.#stop)
    if (at < 0) this.#stop = this.#items[0]?.node.id
    this.#rows.show(this.#items, Math.max(0, at))
  }

  #key(event: KeyboardEvent): void {
    const here = this.#items.findIndex(({ node }) => node.id === this.#stop)
    const last = this.#items.length - 1
    const next = { ArrowUp: here - 1, ArrowDown: here + 1, Home: 0, End: last }[event.key]
    if (next === undefined || here < 0) return
    event.preventDefault()
    event.stopPropagation()
    const index = Math.min(last, Math.max(0, next))
    this.#stop = this.#items[index]?.node.id
    this.#show()
    this.#rows.reveal(index)
    this.#list.querySelector<HTMLElement>(`[data-actor="${CSS.escape(this.#stop ?? '')}"] button`)?.focus({ preventScroll: true })
  }

  #part({ node: { id } }: Listed): Part<Listed> {
    const icon = new Icon('working')
    const name = make('span', 'name')
    const state = make('span', 'state')
    const status = make('span', 'status muted')
    const button = make('button', '', icon.node, name, state, status)
    button.type = 'button'
    const regions = make('dl', 'regions')
    const context = make('pre', 'context')
    const inside = make('div', 'inside', regions, context)
    const lines = new KeyedParts(regions, ([region]: MachineNode['regions'][number]) => region, regionPart)
    const item = make('li', '', button, inside)
    item.dataset['actor'] = id
    let shown: MachineNode | undefined
    const showInside = (): void => {
      const isOpen = this.#open.has(id)
      inside.hidden = !isOpen
      setAttribute(button, 'aria-expanded', String(isOpen))
      if (!shown || !isOpen) return
      lines.show(shown.regions)
      regions.hidden = shown.regions.length === 0
      setText(context, inText(shown.context))
    }
    // It is as high as what it says, which may become more.
    new ResizeObserver(() => {
      if (!this.#open.has(id) || this.#open.get(id) === inside.offsetHeight) return
      this.#open.set(id, inside.offsetHeight)
      this.#rows.replace()
    }).observe(inside)
    button.addEventListener('click', () => {
      if (!this.#open.delete(id)) this.#open.set(id, 0)
      showInside()
      this.#rows.replace()
    })
    return {
      node: item,
      show: ({ node, level }) => {
        shown = node
        setStyle(item, '--level', String(level - 1))
        setAttribute(item, 'aria-level', String(level))
        icon.show(node.workStatus)
        setAttribute(item, 'data-status', node.status)
        setAttribute(item, 'data-status', node.workStatus)
        setText(name, node.name)
        setText(state, node.kind === 'effect' ? 'effect' : node.state)
        // The state that a machine is done in says it.
        setText(status, node.kind === 'machine' && node.status === 'done' ? '' : STATUS_WORDS[node.status])
        setAttribute(button, 'tabindex', id === this.#stop ? '0' : '-1')
        showInside()
      },
    }
  }
}

/** The machines without those that have ended and have no active actor below them. */
function stillActive(node: MachineNode): MachineNode[] {
  const children = node.children.flatMap(stillActive)
  return node.status === 'active' || children.length > 0 ? [{ ...node, children }] : []
}

const listed = (nodes: readonly MachineNode[], level: number): Listed[] =>
  nodes.flatMap((node) => [{ node, level }, ...listed(node.children, level + 1)])

function regionPart([name]: MachineNode['regions'][number]): Part<MachineNode['regions'][number]> {
  const state = make('dd')
  return { node: make('div', '', make('dt', '', name), state), show: ([, value]) => setText(state, value) }
}

function inText(context: unknown): string {
  const isEmpty = typeof context === 'object' && context !== null && Object.keys(context).length === 0
  return context === undefined || context === null || isEmpty ? 'no context' : JSON.stringify(context, undefined, 2)
}
