import { Observable } from 'rxjs/internal/Observable'
import { checkArguments, withFields } from '../engine.ts'
import type { Storage } from '../groups/storage/storage.ts'
import type { ClientEvent, ListWatch, Snapshot } from './resource-client.ts'

const A_STORAGE = withFields('a storage that can list and watch', 'list', 'watch')

/**
 * What an informer needs, of a storage in this process: without a request, a filter or an encoding
 * between them. What it gives are the storage's own objects, which must not be changed.
 * @param name for logs and errors: `demo.example/v1/widgets`
 * @throws QuiesceError ERR_OPTION_INVALID
 */
export function storageListWatch(name: string, storage: Pick<Storage, 'list' | 'watch'>): ListWatch {
  checkArguments('storageListWatch(name, storage)', [name, 'a text'], [storage, A_STORAGE])
  const { list, watch } = storage as Required<Pick<Storage, 'list' | 'watch'>>
  return {
    name,
    list: async (): Promise<Snapshot> =>
      list.call(storage, { namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' }),
    watch: (after) =>
      new Observable<ClientEvent>((subscriber) => {
        let isOver = false
        let close = (): void => {}
        const begin = async (): Promise<void> => {
          const watching = await watch.call(
            storage,
            after,
            ({ type, object }) => subscriber.next({ type, object }),
            (why) => subscriber.error(why),
          )
          close = () => watching.close()
          if (isOver) close()
        }
        begin().catch((thrown: unknown) => subscriber.error(thrown))
        return () => {
          isOver = true
          close()
        }
      }),
  }
}
