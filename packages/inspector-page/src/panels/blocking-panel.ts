import { type BlockingGroup, type BlockingItem, blockingOf } from '../core/blocking.ts'
import { element, Icon, make, type Part, Parts, setText } from '../dom.ts'
import type { Frame, Panel } from '../frame.ts'

/** What an exit still waits for, by kind, with names and ages. */
export class BlockingPanel implements Panel {
  readonly #groups = new Parts(element('blocking-body'), ({ kind }: BlockingGroup) => kind, groupPart)

  draw({ view, now }: Frame): void {
    const { headline, groups } = blockingOf(view, now)
    setText(element('blocking-title'), headline)
    this.#groups.show(groups)
  }
}

function groupPart({ kind }: BlockingGroup): Part<BlockingGroup> {
  const label = make('span')
  const items = make('ul', 'blockers')
  const node = make('div', `blocking-group ${kind}`, make('h3', '', new Icon(kind).node, label), items)
  const parts = new Parts(items, ({ key }: BlockingItem) => key, itemPart)
  return {
    node,
    show: (group) => {
      const some = group.items.length > 0 && group.items.length < group.count
      setText(label, some ? `${group.title}, the oldest ${group.items.length}` : group.title)
      parts.show(group.items)
    },
  }
}

function itemPart(): Part<BlockingItem> {
  const name = make('span', 'name')
  const note = make('span', 'muted note')
  const age = make('span', 'age')
  return {
    node: make('li', '', name, note, age),
    show: (item) => {
      setText(name, item.name)
      name.title = item.name
      setText(note, item.note)
      setText(age, item.age)
    },
  }
}
