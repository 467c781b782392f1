import type { AnyStateMachine } from 'xstate'
import { isInline } from './internals.ts'
import { allNodes, transitionsOf } from './regions.ts'

/**
 * Replaces the actions of a machine where they are written: in its states and transitions, which
 * are its own, and not in its configuration, which is the user's.
 */
export function replaceActions({ root }: AnyStateMachine, replaced: (action: unknown) => unknown): void {
  for (const node of allNodes(root))
    for (const holder of [node, ...transitionsOf(node), node.initial])
      for (const key of ['entry', 'exit', 'actions']) {
        const list: unknown = Reflect.get(holder, key)
        if (Array.isArray(list)) Reflect.set(holder, key, list.map(replaced))
      }
}

/** Gives what is invoked without a name a name of its own, and other logic. */
export function replaceInlineSources({ root, implementations }: AnyStateMachine, logicFor: (id: string, logic: unknown) => unknown): void {
  const actors = implementations.actors as Record<string, unknown>
  for (const node of allNodes(root)) {
    const written = [(node.config as { readonly invoke?: unknown }).invoke].flat() as readonly { readonly src?: unknown }[]
    for (const [i, invoked] of node.invoke.entries()) {
      if (typeof invoked.src !== 'string' || !isInline(invoked.src)) continue
      const name = `inline ${invoked.src}`
      actors[name] = logicFor(invoked.id, written[i]?.src)
      Reflect.set(invoked, 'src', name)
    }
  }
}
