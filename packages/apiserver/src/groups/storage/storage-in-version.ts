import { checkArguments, toError, withFields } from '../../engine.ts'
import { internalError, StatusError } from '../../status-errors.ts'
import { type ApiObject, keyOf } from '../api-object.ts'
import { orderedMeta } from '../object-meta.ts'
import { convertObject } from '../resource/convert-object.ts'
import type { Resource } from '../resource/define-resource.ts'
import { frozen } from './object-codec.ts'
import type { ListQuery, MaybePromise, Storage, StorageEvent, StorageWatch } from './storage.ts'

const A_RESOURCE = withFields('what defineResource() returns', 'plural', 'versions')

/**
 * The storage of a kind as one of its versions sees it: what is stored in another one is converted
 * when it is read, and what is written is stored in the version in which objects of the kind are
 * stored. An object is converted once for all that read it. Servers do this for the requests that
 * they are sent; it is for code that reads a storage without them, as informers do. What cannot be
 * converted rejects, and ends a watch.
 * @param resource the version that is wanted, one of `versions` of what `defineResource()` returned
 * @param storage the one of the kind, as it is given to `apiGroup()`
 * @param failed is told why a watch has ended that could not give an object
 * @throws QuiesceError ERR_OPTION_INVALID
 * @see kubernetes/apiserver pkg/storage/etcd3/store.go, whose codec converts
 * @example
 * const seen = storageInVersion(widgets.versions.v1, storage)
 * const informer = createInformer(storageListWatch('demo.example/v1/widgets', seen))
 */
export function storageInVersion(resource: Resource, storage: Storage, failed: (error: unknown) => void = () => {}): Storage {
  checkArguments('storageInVersion(resource, storage, failed?)', [resource, A_RESOURCE], [storage, 'an object'], [failed, 'a function'])
  const read = (object: ApiObject): ApiObject => formOf(object, resource)
  const readIfAny = (object: ApiObject | undefined): ApiObject | undefined => object && read(object)
  const written = async (object: ApiObject, write: (stored: ApiObject) => MaybePromise<ApiObject | undefined>, before?: Before) => {
    const { stored, forms, again } = await throughStorage(resource, object, before)
    const result = await write(stored)
    if (result === undefined) return undefined
    // Those who watch other versions need them next.
    for (const [version, form] of forms) remembered(result, version, form)
    return remembered(result, resource, again)
  }
  const { get, list, create, update, delete: remove, watch, review } = bound(storage)
  return {
    ...(get && { get: async (key) => readIfAny(await get(key)) }),
    ...(list && {
      list: async ({ matches, ...query }: ListQuery) => {
        const page = await list({ ...query, matches: (object) => matches(read(object)) })
        return { ...page, items: page.items.map(read) }
      },
    }),
    ...(create && { create: (object) => written(object, create) }),
    ...(update && {
      update: (object, expected) =>
        written(
          object,
          (stored) => update(stored, expected),
          () => get?.(keyOf(object)),
        ),
    }),
    ...(remove && {
      delete: async (key, expected) => {
        const gone = await remove(key, expected)
        try {
          return readIfAny(gone)
        } catch {
          // It is deleted all the same: it is told as it was stored.
          return gone
        }
      },
    }),
    ...(watch && {
      watch: (after, listener, ended, concerns = () => true) => watchForms(resource, watch, { after, listener, ended, concerns, failed }),
    }),
    ...(review && { review }),
  }
}

/** Its methods, which may be those of a class. */
function bound(storage: Storage): Storage {
  const { get, list, create, update, delete: remove, watch, review } = storage
  return {
    ...(get && { get: get.bind(storage) }),
    ...(list && { list: list.bind(storage) }),
    ...(create && { create: create.bind(storage) }),
    ...(update && { update: update.bind(storage) }),
    ...(remove && { delete: remove.bind(storage) }),
    ...(watch && { watch: watch.bind(storage) }),
    ...(review && { review: review.bind(storage) }),
  }
}

/** An object as it would be stored, and as it would be read again. */
interface Through {
  readonly stored: ApiObject
  /** The object in all other versions. */
  readonly forms: ReadonlyMap<Resource, ApiObject>
  /** The object in the version in which it was given. */
  readonly again: ApiObject
}

/**
 * Reads the stored object that a write replaces, if there is one. It is called only when the new
 * object has errors.
 */
type Before = () => MaybePromise<ApiObject | undefined>

/**
 * Nothing is written that one of the versions could not read: one such object would fail the lists
 * of all its clients. What is broken already can still be changed, and deleted by taking its
 * finalizers.
 * @throws ConversionError; StatusError 422
 */
export async function throughStorage(resource: Resource, object: ApiObject, before: Before = () => undefined): Promise<Through> {
  const stored = await toBeStored(resource, object, before)
  const forms = new Map<Resource, ApiObject>()
  for (const version of Object.values(resource.versions)) {
    if (version.apiVersion === stored.apiVersion) continue
    try {
      forms.set(version, convertObject(stored, version, 'read'))
    } catch (thrown) {
      const old = version.apiVersion === resource.apiVersion ? undefined : await before()
      if (old === undefined || formIfAny(old, version) !== undefined) throw thrown
    }
  }
  return { stored, forms, again: forms.get(resource) ?? convertObject(stored, resource, 'read') }
}

async function toBeStored({ versions, storageVersion }: Resource, object: ApiObject, before: Before): Promise<ApiObject> {
  const version = versions[storageVersion] as Resource
  try {
    return convertObject(object, version, 'store')
  } catch (thrown) {
    const old = await before()
    if (old === undefined) throw thrown
    return convertObject(object, version, 'store', (of) => formIfAny(old, of))
  }
}

/** An object in a version; undefined: that cannot read it. */
function formIfAny(object: ApiObject, version: Resource): ApiObject | undefined {
  try {
    return formOf(object, version)
  } catch {
    return undefined
  }
}

/** Objects in other versions, by the stored one that they were made of. */
const FORMS = new WeakMap<ApiObject, Map<Resource, ApiObject>>()
const EVENTS = new WeakMap<StorageEvent, Map<Resource, StorageEvent>>()
/** Stored objects, by what was read of them. */
const STORED = new WeakMap<ApiObject, ApiObject>()

/** What is stored of an object that was read. */
export const storedForm = (read: ApiObject): ApiObject => STORED.get(read) ?? read

/** The version, as `demo.example/v1`, in which an object is stored that was read. */
export const storedVersion = (read: ApiObject): string => storedForm(read).apiVersion

function formOf(object: ApiObject, resource: Resource): ApiObject {
  if (object.apiVersion === resource.apiVersion) return object
  return FORMS.get(object)?.get(resource) ?? remembered(object, resource, convertObject(object, resource, 'read'))
}

/** What was made of a stored object, with its version, is what is read of it from now on. */
function remembered(stored: ApiObject, resource: Resource, made: ApiObject): ApiObject {
  if (stored.apiVersion === resource.apiVersion) return stored
  const { resourceVersion } = stored.metadata
  const form = frozen({
    ...made,
    metadata: orderedMeta({ ...made.metadata, ...(resourceVersion !== undefined && { resourceVersion }) }),
  })
  keep(FORMS, stored, resource, form)
  STORED.set(form, stored)
  return form
}

function keep<T extends object>(forms: WeakMap<T, Map<Resource, T>>, of: T, resource: Resource, form: T): void {
  const known = forms.get(of) ?? new Map<Resource, T>()
  forms.set(of, known.set(resource, form))
}

/** One event for all who watch a version: what it is encoded as is kept with it. */
function eventForm(event: StorageEvent, resource: Resource): StorageEvent {
  const { type, object, previous } = event
  if (object.apiVersion === resource.apiVersion && (previous ?? object).apiVersion === resource.apiVersion) return event
  const known = EVENTS.get(event)?.get(resource)
  if (known !== undefined) return known
  const form: StorageEvent = { type, object: formOf(object, resource), previous: previous && formOf(previous, resource) }
  keep(EVENTS, event, resource, form)
  return form
}

interface FormsWatch {
  readonly after: string
  readonly listener: (event: StorageEvent) => void
  readonly ended: (why: StatusError) => void
  readonly concerns: (object: ApiObject) => boolean
  readonly failed: (error: unknown) => void
}

/**
 * An object that cannot be converted ends the watch: what came after it would leave a gap. One of
 * another namespace does not, and its failure is not told to those who may not read it.
 */
async function watchForms(
  resource: Resource,
  watch: NonNullable<Storage['watch']>,
  { after, listener, ended, concerns, failed }: FormsWatch,
): Promise<StorageWatch> {
  let watching: StorageWatch | undefined
  let why: StatusError | undefined
  const hear = (event: StorageEvent): void => {
    if (why !== undefined || !concerns(event.object)) return
    let form: StorageEvent
    try {
      form = eventForm(event, resource)
    } catch (thrown) {
      failed(thrown)
      why = thrown instanceof StatusError ? thrown : internalError(toError(thrown).message)
      watching?.close()
      if (watching !== undefined) ended(why)
      return
    }
    listener(form)
  }
  watching = await watch(after, hear, (reason) => {
    if (why === undefined) ended(reason)
  })
  if (why === undefined) return watching
  watching.close()
  throw why
}
