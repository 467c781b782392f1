import { Observable } from 'rxjs/internal/Observable'
import { checkArguments, checkFields, withFields, withOptions } from '../engine.ts'
import type { ApiObject, ObjectKey, ObjectMeta } from '../groups/api-object.ts'
import { groupVersion, type Resource } from '../groups/resource/define-resource.ts'
import type { LoopbackClient } from '../loopback/loopback.ts'
import { type Failure, StatusError } from '../status-errors.ts'
import type { CallOptions, ClientEvent, CollectionClient, DeleteChoices, Snapshot, UpdateCallOptions } from './resource-client.ts'

/** Which objects of a kind a client looks at. */
export interface LoopbackScope {
  /** Default: all namespaces, of objects that have one. */
  readonly namespace?: string
  /** Default: all objects. */
  readonly labelSelector?: string
}

/** Objects in one answer to a list. @see kubernetes/client-go tools/pager/pager.go */
const PAGE = 500

const A_RESOURCE = withFields('what defineResource() returns', 'plural', 'apiVersion')
const A_KEY = withFields('{ namespace, name }', 'name')
/** A misspelt one would delete what is not to be deleted. */
const CHOICES = withOptions<DeleteChoices>('uid', 'resourceVersion', 'propagationPolicy')
const OF_ALL = withOptions<DeleteChoices>('propagationPolicy')

/**
 * A client of one kind of objects over the server's own loopback client: its calls pass all filters
 * of the server, as the user `system:apiserver`, and are answered while the server drains.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const leases = loopbackResource(server.loopback, LEASES, { namespace: 'kube-system' })
 */
export function loopbackResource<T extends ApiObject>(
  loopback: LoopbackClient,
  resource: Resource<T>,
  scope: LoopbackScope = {},
): CollectionClient<T> {
  checkArguments(
    'loopbackResource(loopback, resource, scope?)',
    [loopback, 'an object'],
    [resource, A_RESOURCE],
    [scope, withOptions<LoopbackScope>('namespace', 'labelSelector')],
  )
  return new LoopbackResource(loopback, resource, scope)
}

class LoopbackResource<T extends ApiObject> implements CollectionClient<T> {
  readonly name: string
  readonly #loopback: LoopbackClient
  readonly #resource: Resource<T>
  readonly #scope: LoopbackScope

  constructor(loopback: LoopbackClient, resource: Resource<T>, scope: LoopbackScope) {
    this.name = `${groupVersion(resource.group, resource.version)}/${resource.plural}`
    this.#loopback = loopback
    this.#resource = resource
    this.#scope = scope
  }

  async get(key: ObjectKey, options?: CallOptions): Promise<T | undefined> {
    try {
      return (await this.#ask('GET', this.#pathOf(key), undefined, options)) as T
    } catch (thrown) {
      if (thrown instanceof StatusError && thrown.failure.code === 404) return undefined
      throw thrown
    }
  }

  async create(object: T, options?: CallOptions): Promise<T> {
    return (await this.#ask('POST', this.#collection(object.metadata.namespace), object, options)) as T
  }

  async update(object: T, { subresource, ...options }: UpdateCallOptions = {}): Promise<T> {
    const path = this.#pathOf(keyIn(object.metadata))
    return (await this.#ask('PUT', subresource === undefined ? path : `${path}/${subresource}`, object, options)) as T
  }

  async delete(key: ObjectKey, choices: DeleteChoices = {}, options?: CallOptions): Promise<void> {
    checkArguments('delete(key, choices?, options?)', [key, A_KEY], [choices, CHOICES])
    const { uid, resourceVersion, propagationPolicy } = choices
    const body = {
      kind: 'DeleteOptions',
      apiVersion: 'v1',
      ...((uid ?? resourceVersion) !== undefined && { preconditions: { uid, resourceVersion } }),
      ...(propagationPolicy && { propagationPolicy }),
    }
    await this.#ask('DELETE', this.#pathOf(key), body, options)
  }

  async deleteAll(choices: Pick<DeleteChoices, 'propagationPolicy'> = {}, options?: CallOptions): Promise<void> {
    checkArguments('deleteAll(choices?, options?)', [choices, OF_ALL])
    const { propagationPolicy } = choices
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', ...(propagationPolicy && { propagationPolicy }) }
    await this.#ask('DELETE', `${this.#collection(this.#scope.namespace)}?${this.#query({})}`, body, options)
  }

  async list({ signal }: { readonly signal: AbortSignal }): Promise<Snapshot<T>> {
    const items: T[] = []
    let page: ListAnswer<T> | undefined
    do {
      const token = page?.metadata.continue
      const query = this.#query({ limit: String(PAGE), ...(token !== undefined && { continue: token }) })
      page = (await this.#ask('GET', `${this.#collection(this.#scope.namespace)}?${query}`, undefined, { signal })) as ListAnswer<T>
      items.push(...page.items)
    } while ((page.metadata.continue ?? '') !== '')
    return { items, resourceVersion: page.metadata.resourceVersion }
  }

  watch(after: string): Observable<ClientEvent<T>> {
    const path = `${this.#collection(this.#scope.namespace)}?${this.#query({ watch: 'true', allowWatchBookmarks: 'true', resourceVersion: after })}`
    return new Observable((subscriber) => {
      const over = new AbortController()
      const follow = async (): Promise<void> => {
        const answer = await this.#loopback.fetch(path, { signal: over.signal })
        if (!answer.ok || answer.body === null) throw await failureOf(answer)
        for await (const frame of frames(answer.body)) subscriber.next(eventOf<T>(frame))
      }
      follow().then(
        () => subscriber.complete(),
        (thrown: unknown) => subscriber.error(thrown),
      )
      return () => over.abort()
    })
  }

  async #ask(method: string, path: string, body: object | undefined, options: CallOptions = {}): Promise<unknown> {
    const { signal } = checkFields(`a call of ${this.name}`, options, ['signal'])
    const answer = await this.#loopback.fetch(path, {
      method,
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    if (!answer.ok) throw await failureOf(answer)
    return answer.json()
  }

  #query(of: Readonly<Record<string, string>>): URLSearchParams {
    const { labelSelector } = this.#scope
    return new URLSearchParams({ ...of, ...(labelSelector !== undefined && { labelSelector }) })
  }

  #collection(namespace = ''): string {
    const { group, apiVersion, plural, isNamespaced } = this.#resource
    const root = group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`
    return isNamespaced && namespace !== '' ? `${root}/namespaces/${encodeURIComponent(namespace)}/${plural}` : `${root}/${plural}`
  }

  #pathOf({ namespace, name }: ObjectKey): string {
    return `${this.#collection(namespace)}/${encodeURIComponent(name)}`
  }
}

interface ListAnswer<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly T[]
}

interface WatchFrame {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: unknown
}

const keyIn = ({ namespace = '', name }: ObjectMeta): ObjectKey => ({ namespace, name })

/** Each line of an answer, read. */
async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<WatchFrame> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield JSON.parse(line) as WatchFrame
  }
}

/** @throws StatusError for the failure with which a server ends a watch */
function eventOf<T extends ApiObject>({ type, object }: WatchFrame): ClientEvent<T> {
  if (type === 'ERROR') throw new StatusError(object as Failure)
  if (type !== 'BOOKMARK') return { type, object: object as T }
  return { type, resourceVersion: (object as ApiObject).metadata.resourceVersion ?? '' }
}

/** What was answered in place of what was asked for. */
async function failureOf(answer: Response): Promise<StatusError> {
  const text = await answer.text()
  try {
    const given = JSON.parse(text) as Partial<Failure>
    if (typeof given.message === 'string' && typeof given.code === 'number') return new StatusError({ reason: '', ...given } as Failure)
  } catch {
    // No Status: what it says is the message.
  }
  return new StatusError({ message: text.trim() || answer.statusText, reason: '', code: answer.status })
}
