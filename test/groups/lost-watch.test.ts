// A watch of a client that begins while the store ends its own. Fails when: the client is kept, and
// never hears of anything again.
import { expect, test } from 'vitest'
import { type ApiObject, createStore, memoryEngine, StatusError, StoreError, storageOver } from '#apiserver/index.ts'
import { widget, widgets } from './widgets.ts'

test('a watch that begins while the store is lost is refused, and begins when it is back', async () => {
  const engine = memoryEngine()
  let isLost = false
  const store = createStore({
    name: 'lost at times',
    open: (context) => {
      const opened = engine.open(context)
      if ('then' in opened) throw new Error('memory takes no time')
      return {
        revision: () => opened.revision(),
        get: (...given) => opened.get(...given),
        range: (query) => opened.range(query),
        put: (write) => opened.put(write),
        delete: (write) => opened.delete(write),
        compact: (revision) => opened.compact(revision),
        close: () => opened.close(),
        watch: (query, watcher) => {
          if (!isLost) return opened.watch(query, watcher)
          queueMicrotask(() => watcher.ended(new StoreError('unavailable', 'no member answers')))
          return { requestProgress: () => {}, close: () => {} }
        },
      }
    },
  })
  const storage = storageOver(store, widgets)
  const { resourceVersion } = await storage.list({ namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' })
  const seen: string[] = []
  const hear = ({ object }: { readonly object: ApiObject }): void => void seen.push(object.metadata.name)
  const begin = () => Promise.resolve(storage.watch(resourceVersion, hear, () => {}))
  isLost = true
  const lost = storageOver(store, { group: 'demo.example', plural: 'others' })
  await expect(Promise.resolve(lost.watch(resourceVersion, hear, () => {}))).rejects.toThrow(StatusError)
  isLost = false
  await begin()
  await storage.create(widget('one', { namespace: 'default' }) as ApiObject)
  await expect.poll(() => seen).toEqual(['one'])
  await storage.destroy()
})
