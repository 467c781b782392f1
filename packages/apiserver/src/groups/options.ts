import { duration, integer, listOf, misspeltFieldOf, option, text } from '../engine.ts'
import { isStoreAddress } from '../store/store-at.ts'
import { ADMISSION_ALLOWED, ADMISSION_FIELDS, type AdmissionPlugin, isAdmissionPlugin } from './admission/plugin.ts'

/** How objects of API groups are taken and kept. */
export const GROUP_OPTIONS = {
  /**
   * Longest time that the hook of `storageReadiness` waits for storages; the server becomes ready
   * then, with a warning.
   * @default 1m
   */
  storageInitializationTimeout: option(duration(), {
    flag: 'storage-initialization-timeout',
    default: '1m',
    meaning: 'Longest time that the hook of storageReadiness waits for storages',
    upstream: '--storage-initialization-timeout',
    upstreamRefusal: '--storage-initialization-timeout can not be negative value',
  }),
  /**
   * Where a program that asks for it keeps the objects of its groups: it is given to `storeAt()`.
   * @default memory
   */
  storage: option(text('memory, file:PATH or etcd://HOST,HOST/PREFIX', isStoreAddress), {
    flag: 'storage',
    default: 'memory',
    meaning: 'Where objects are kept: memory, file:PATH or etcd://HOST,HOST/PREFIX',
  }),
  /**
   * Bytes of a request's body, of those whose body the server reads itself: requests for objects.
   * @default 3145728
   */
  maxRequestBodyBytes: option(integer(1, 1_000_000_000), {
    default: 3 * 1024 * 1024,
    meaning: 'Longest body of a request for objects',
  }),
  /**
   * Plugins that decide about writes of objects, and may change what is written, in their order.
   * @default none
   */
  admission: option(
    listOf<AdmissionPlugin>('a list of { name, handles?, mutate?, validate? }', (item) =>
      isAdmissionPlugin(item) ? misspeltFieldOf(item, ADMISSION_FIELDS) : { path: '', given: item, allowed: ADMISSION_ALLOWED },
    ),
    {
      defaultWords: 'none',
      meaning: 'Plugins that decide about writes of objects, and may change what is written, in their order',
      upstream: 'Config.AdmissionControl',
    },
  ),
}
