import { checkArguments, optionError } from '../engine.ts'
import { etcdEngine } from './etcd/etcd-engine.ts'
import { fileEngine } from './file-engine.ts'
import type { StoreEngine } from './key-value-store.ts'
import { memoryEngine } from './memory-engine.ts'
import { createStore, type Store } from './store.ts'

const ALLOWED = 'memory, file:PATH or etcd://HOST,HOST/PREFIX'

export const isStoreAddress = (given: string): boolean => given === 'memory' || /^file:.|^etcd:\/\/./s.test(given)

/**
 * The store of an address, as the option `storage` has it: `memory`, `file:PATH`, or
 * `etcd://HOST,HOST/PREFIX`, with the defaults of its engine. Each call makes one: two of one file
 * are two that want it.
 * @throws QuiesceError ERR_OPTION_INVALID, ERR_DEPENDENCY_MISSING for a file on a Node without
 * SQLite
 * @example
 * const store = storeAt(config.storage)
 * const versions = { v1: [{ resource: widgets, storage: storageOver(store, widgets) }] }
 */
export function storeAt(address: string): Store {
  checkArguments('storeAt(address)', [address, 'a text'])
  return createStore(engineAt(address))
}

function engineAt(address: string): StoreEngine {
  if (address === 'memory') return memoryEngine()
  if (address.startsWith('file:') && address.length > 5) return fileEngine({ path: address.slice(5) })
  if (!isStoreAddress(address)) throw optionError('address of storeAt()', address, ALLOWED)
  return etcdEngine(address)
}
