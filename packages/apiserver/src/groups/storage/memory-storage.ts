import { checkArguments, withOptions } from '../../engine.ts'
import { type MemoryEngineOptions, memoryEngine } from '../../store/memory-engine.ts'
import { createStore, type Store } from '../../store/store.ts'
import { type StorageOverOptions, type StoreStorage, storageOver } from './storage-over.ts'

export interface MemoryStorageOptions extends MemoryEngineOptions {
  /** Changes of each resource that can be watched later. Default 1000. */
  readonly history?: number
}

const HISTORY_DEFAULT = 1_000

/**
 * Keeps objects in this process, of any number of resources: with one revision over all of them.
 * What is in it ends with the process.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const memory = memoryStorage()
 * const versions = { v1: [{ resource: widgets, storage: memory.resource() }] }
 */
export function memoryStorage(options: MemoryStorageOptions = {}): MemoryStorage {
  checkArguments('memoryStorage(options?)', [options, withOptions<MemoryStorageOptions>('history', 'revision')])
  return new MemoryStorage(options)
}

export class MemoryStorage {
  readonly store: Store
  readonly #window: number
  #resources = 0

  constructor({ history = HISTORY_DEFAULT, revision }: MemoryStorageOptions) {
    this.store = createStore(memoryEngine({ history, ...(revision !== undefined && { revision }) }))
    this.#window = history
  }

  /** A place for the objects of one more resource, which may say what it is called. */
  resource(of: StorageOverOptions = { group: '', plural: `resource-${++this.#resources}` }): StoreStorage {
    return storageOver(this.store, of, { window: this.#window })
  }
}
