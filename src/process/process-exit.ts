import { sharedByCopies } from '../base/shared-by-copies.ts'
import { SharedListeners } from '../base/shared-listeners.ts'

type ExitListener = (code: number) => void

/** Where the end of the process is heard: the process. */
export interface ExitSource {
  on(event: 'exit', listener: ExitListener): unknown
  prependListener(event: 'exit', listener: ExitListener): unknown
  off(event: 'exit', listener: ExitListener): unknown
}

const exitsHeardBy = (name: string, how: 'on' | 'prependListener'): SharedListeners<ExitSource, [code: number]> =>
  sharedByCopies(
    name,
    () =>
      new SharedListeners((source, notify) => {
        source[how]('exit', notify)
        return () => source.off('exit', notify)
      }),
  )

/** In front of a logger's own listener, which writes what it was given by then and nothing more. */
const exits = exitsHeardBy('exits', 'prependListener')
const lastExits = exitsHeardBy('last exits', 'on')

/**
 * Calls `listener` when the process ends by itself or by `process.exit()`, from any code, until
 * disposed. What is not done when it returns is never done.
 * @param isLast behind those that are not: what may kill the process leaves them their turn
 */
export const onProcessExit = (source: ExitSource, listener: ExitListener, isLast = false): Disposable =>
  (isLast ? lastExits : exits).listen(source, listener)
