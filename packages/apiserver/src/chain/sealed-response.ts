import type { ServerResponse } from 'node:http'
import type { QuiesceError } from '../engine.ts'

/**
 * Takes a response away from its handler: whatever it writes from now on fails with `error`, as a
 * write to a closed one does, by its callback and by the event `error` where anything listens. What
 * it does to the headers is ignored. Nothing throws, because it may come out of a timer, where that
 * would end the process.
 * @param ended called when the handler ends it, each time
 */
export function sealResponse(response: ServerResponse, error: QuiesceError, ended: () => void): void {
  const failed = (args: readonly unknown[]): void => {
    const callback = args.find((arg) => typeof arg === 'function')
    queueMicrotask(() => {
      if (callback) Reflect.apply(callback, response, [error])
      if (response.listenerCount('error') > 0) response.emit('error', error)
    })
  }
  const same = (): ServerResponse => response
  const nothing = (): void => {}
  Object.assign(response, {
    write: (...args: readonly unknown[]) => {
      failed(args)
      return false
    },
    end: (...args: readonly unknown[]) => {
      failed(args)
      ended()
      return response
    },
    writeHead: same,
    setHeader: same,
    setHeaders: same,
    appendHeader: same,
    removeHeader: nothing,
    addTrailers: nothing,
    flushHeaders: nothing,
    writeContinue: nothing,
    writeProcessing: nothing,
    writeEarlyHints: nothing,
  })
}
