import { sharedByCopies } from '../base/shared-by-copies.ts'
import { SharedListeners } from '../base/shared-listeners.ts'

/** Where the end of the process is heard: the process. */
export interface ExitSource {
  on(event: 'exit', listener: (code: number) => void): unknown
  off(event: 'exit', listener: (code: number) => void): unknown
}

const exits = sharedByCopies(
  'exits',
  () =>
    new SharedListeners<ExitSource, [code: number]>((source, notify) => {
      source.on('exit', notify)
      return () => source.off('exit', notify)
    }),
)

/**
 * Calls `listener` when the process ends by itself or by `process.exit()`, from any code, until
 * disposed. What is not done when it returns is never done.
 * @param isLast behind all that are not: what may kill the process leaves them their turn
 */
export const onProcessExit = (source: ExitSource, listener: (code: number) => void, isLast = false): Disposable =>
  exits.listen(source, listener, isLast)
