import type { ApiExchange } from '../api-exchange.ts'
import { toError } from '../engine.ts'

/** A signature of a response's `end`, of many. */
type End = (...args: unknown[]) => unknown

/**
 * Has the end of an answer recorded before its client can see it: `record` is called when the
 * response is ended, and an answer whose event is still on its way ends when that is stored, or
 * when the time of its request is over. Until then it is ended for its handler, and nothing of the
 * last piece has left. To be called for the handler's response.
 * @param record returns true, too, when there is nothing to record any more
 */
export function recordBeforeEnd(exchange: ApiExchange, record: () => boolean | Promise<boolean>): void {
  const { response } = exchange
  const end = response.end as End
  response.end = ((...args: unknown[]) => {
    const verdict = record()
    if (typeof verdict === 'boolean') return end.apply(response, args)
    hold(exchange, verdict, () => end.apply(response, args))
    return response
  }) as typeof response.end
}

function hold(exchange: ApiExchange, verdict: Promise<boolean>, goOn: () => void): void {
  const { response } = exchange
  const { end, write } = response
  // What is written behind the end goes nowhere, as without the wait.
  const held = (() => response) as typeof end
  Object.assign(response, { end: held, write: () => false })
  Object.defineProperty(response, 'writableEnded', { value: true, configurable: true })
  const release = (): void => {
    if (response.end !== held) return
    Object.assign(response, { end, write })
    delete (response as { writableEnded?: unknown }).writableEnded
    goOn()
  }
  exchange.waiting.signal.addEventListener('abort', release, { once: true })
  // The backend has counted what it could not store.
  void verdict.then(release, release)
}

/** Ignores a verdict that nothing waits for; the backend has counted what it could not store. */
export function forget(verdict: boolean | Promise<boolean>): void {
  if (typeof verdict !== 'boolean') verdict.catch((thrown: unknown) => void toError(thrown))
}
