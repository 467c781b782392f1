import { sharedByCopies } from '../base/shared-by-copies.ts'
import { SharedListeners } from '../base/shared-listeners.ts'

/** Says when the process has nothing left to do: the process. */
export interface IdleSource {
  on(event: 'beforeExit', listener: () => void): unknown
  off(event: 'beforeExit', listener: () => void): unknown
}

const idles = sharedByCopies(
  'idles',
  () =>
    new SharedListeners<IdleSource, []>((source, notify) => {
      const onBeforeExit = (): void => notify()
      source.on('beforeExit', onBeforeExit)
      return () => source.off('beforeExit', onBeforeExit)
    }),
)

/** Calls `listener` whenever the process has nothing left to do and would end, until disposed. */
export const onProcessIdle = (source: IdleSource, listener: () => void): Disposable => idles.listen(source, listener)
