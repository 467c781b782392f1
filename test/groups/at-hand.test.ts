// A list for which any version will do, while the store is lost. Fails when: it waits for the
// store, or is refused, though what was there is known; or it shows that when the store is back.
import { expect, test } from 'vitest'
import { type ApiObject, createStore, type ListQuery, memoryEngine, StoreError, type StoreWatcher, storageOver } from '#apiserver/index.ts'
import { widget, widgets } from './widgets.ts'

const ALL: ListQuery = { namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' }
const AT_HAND: ListQuery = { ...ALL, notOlderThan: '0' }

test('what was there last is listed while the store answers nothing', async () => {
  const engine = memoryEngine()
  const lost = new StoreError('unavailable', 'no member answers')
  const watchers: StoreWatcher[] = []
  let answers: Promise<void> = Promise.resolve()
  let asked = 0
  const store = createStore({
    name: 'lost at times',
    open: (context) => {
      const opened = engine.open(context)
      if ('then' in opened) throw new Error('memory takes no time')
      return {
        revision: () => opened.revision(),
        get: (...given) => opened.get(...given),
        range: async (query) => {
          asked++
          await answers
          return opened.range(query)
        },
        put: (write) => opened.put(write),
        delete: (write) => opened.delete(write),
        compact: (revision) => opened.compact(revision),
        close: () => opened.close(),
        watch: (query, watcher) => {
          watchers.push(watcher)
          return opened.watch(query, watcher)
        },
      }
    },
  })
  const storage = storageOver(store, widgets)
  const names = async (query: ListQuery) => (await storage.list(query)).items.map(({ metadata }) => metadata.name)
  expect(await names(AT_HAND)).toEqual([])
  await storage.create(widget('one', { namespace: 'default' }) as ApiObject)
  expect(await names(ALL)).toEqual(['one'])
  let back = (): void => {}
  answers = new Promise((resolve) => {
    back = resolve
  })
  watchers.at(-1)?.ended(lost)
  const before = asked
  expect(await names(AT_HAND)).toEqual(['one'])
  expect(await names(AT_HAND)).toEqual(['one'])
  // It is asked for what is new once, and others wait for that.
  expect(asked).toBe(before + 1)
  const newest = names(ALL)
  await storage.create(widget('two', { namespace: 'default' }) as ApiObject)
  back()
  expect(await newest).toEqual(['one', 'two'])
  expect(await names(AT_HAND)).toEqual(['one', 'two'])
  await storage.destroy()
})
