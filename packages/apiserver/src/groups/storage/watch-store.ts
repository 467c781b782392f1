import type { KeyValueStore, StoreWatch, StoreWatcher, WatchQuery } from '../../store/key-value-store.ts'
import { StoreError } from '../../store/store-error.ts'

/**
 * Watches a store, of which an engine expects that its watcher does not throw. A change that is no
 * object ends the watch with that error, as it ends a list.
 */
export function watchStore(store: KeyValueStore, query: WatchQuery, watcher: StoreWatcher): StoreWatch {
  const watch = store.watch(query, {
    next: (changes, revision) => {
      try {
        watcher.next(changes, revision)
      } catch (thrown) {
        if (!(thrown instanceof StoreError)) throw thrown
        watch.close()
        watcher.ended(thrown)
      }
    },
    ended: (why) => watcher.ended(why),
  })
  return watch
}
