import { finalize } from 'rxjs/internal/operators/finalize'
import type { Life } from '../lifecycle/life.ts'

/**
 * Where a transport of Nest keeps what it calls for a message; its types do not have
 * `serverInstance`.
 */
interface Microservice {
  readonly serverInstance?: { getHandlers?(): Map<string, MessageHandler> }
}

type MessageHandler = (...args: readonly unknown[]) => unknown

/** Of an application with `connectMicroservice()`. */
export interface HybridApp {
  getMicroservices?(): readonly object[]
}

/**
 * Messages that are being handled join the request drain: Nest's `close()` ends its transports
 * without waiting for them. One that comes while the drain is under way is handled, too, but not
 * waited for; a warning names it.
 */
export function holdMessages(app: HybridApp, life: Life): void {
  for (const { serverInstance } of (app.getMicroservices?.() ?? []) as readonly Microservice[]) {
    const handlers = serverInstance?.getHandlers?.()
    if (!handlers) continue
    // Events of one pattern are a list, whose head has the next one as a property.
    for (const [pattern, handler] of handlers) handlers.set(pattern, Object.assign(holding(`message ${pattern}`, handler, life), handler))
  }
}

const holding =
  (name: string, handler: MessageHandler, life: Life): MessageHandler =>
  async (...args) => {
    const end = heldUnlessDraining(name, life)
    try {
      const answer = await handler(...args)
      if (isObservable(answer)) return answer.pipe(finalize(end))
      end()
      return answer
    } catch (thrown) {
      end()
      throw thrown
    }
  }

function heldUnlessDraining(name: string, life: Life): () => void {
  try {
    const hold = life.hold(name)
    return () => hold[Symbol.dispose]()
  } catch {
    // Counted and named as a refused hold; its sender has an answer all the same.
    return () => {}
  }
}

interface Pipeable {
  pipe(operator: ReturnType<typeof finalize>): unknown
}

const isObservable = (answer: unknown): answer is Pipeable =>
  typeof answer === 'object' && answer !== null && typeof (answer as { subscribe?: unknown }).subscribe === 'function'
