import { finalize } from 'rxjs/internal/operators/finalize'
import { deferred } from '../base/deferred.ts'

/**
 * Where a transport of Nest keeps what it calls for a message; its types do not have
 * `serverInstance`.
 */
interface Microservice {
  readonly serverInstance?: { getHandlers?(): Map<string, MessageHandler> }
}

type MessageHandler = (...args: readonly unknown[]) => unknown

/** An application with `connectMicroservice()`. */
export interface HybridApp {
  getMicroservices?(): readonly object[]
}

/**
 * Messages that are being handled join the request drain, also those that come while it is under
 * way: Nest's `close()` ends its transports without waiting for them.
 * @param join has the drain wait for a promise
 */
export function joinMessages(app: HybridApp, join: (name: string, work: Promise<void>) => void): void {
  for (const { serverInstance } of (app.getMicroservices?.() ?? []) as readonly Microservice[]) {
    const handlers = serverInstance?.getHandlers?.()
    if (!handlers) continue
    // Events of one pattern are a list, whose head has the next one as a property.
    for (const [pattern, handler] of handlers) {
      const joined: MessageHandler = async (...args) => {
        const { promise, resolve } = deferred<void>()
        join(`message ${pattern}`, promise)
        try {
          const answer = await handler(...args)
          // What it answers with may go on for long.
          if (isObservable(answer)) return answer.pipe(finalize(resolve))
          resolve()
          return answer
        } catch (thrown) {
          resolve()
          throw thrown
        }
      }
      handlers.set(pattern, Object.assign(joined, handler))
    }
  }
}

interface Pipeable {
  pipe(operator: ReturnType<typeof finalize>): unknown
}

const isObservable = (answer: unknown): answer is Pipeable =>
  typeof answer === 'object' && answer !== null && typeof (answer as { subscribe?: unknown }).subscribe === 'function'
