import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiExchange } from '../../api-exchange.ts'
import { type Clock, queryTexts } from '../../engine.ts'
import type { QualifiedResource } from '../../status-errors.ts'
import type { AdmissionPlugin } from '../admission/plugin.ts'
import type { ObjectKey } from '../api-object.ts'
import type { Resource } from '../resource/define-resource.ts'
import type { WrittenPart } from '../resource/schema-walk.ts'
import type { Storage } from '../storage/storage.ts'
import type { WriteBarrier } from '../write-barrier.ts'

/** What all requests for objects need of the server that they come to. */
export interface RestWorld {
  readonly clock: Clock
  readonly random: () => number
  /** Warns the client of a request. */
  readonly warn: (exchange: ApiExchange, text: string) => void
  /** What decides about writes, in its order. */
  readonly admission: readonly AdmissionPlugin[]
  /** Whether a garbage collector looks after objects of this kind: only then it has finalizers. */
  readonly collects: (of: QualifiedResource) => boolean
  /** What may hold writes of objects that are kept. */
  readonly barriers: readonly WriteBarrier[]
  /** Bytes of a body. */
  readonly bodyMax: number
  /** Is given what a storage or a strategy has thrown that is no answer. */
  readonly failed: (error: unknown) => void
}

/** A resource where it is served. */
export interface ServedResource {
  readonly resource: Resource
  readonly storage: Storage
}

/**
 * The part of an object that a request is about: all of it, its `status`, its `scale`, which says
 * how many there are, or `finalize`, which has the finalizers of its spec.
 */
export type Subresource = '' | 'status' | 'scale' | 'finalize'

/** One request for objects of a resource. */
export class RestRequest {
  readonly exchange: ApiExchange
  readonly resource: Resource
  readonly storage: Required<Storage>
  readonly subresource: Subresource
  readonly world: RestWorld
  readonly #said = new Set<string>()

  /** @param served has the abilities of the request's verb: others have no route */
  constructor(exchange: ApiExchange, { resource, storage }: ServedResource, subresource: Subresource, world: RestWorld) {
    this.exchange = exchange
    this.resource = resource
    this.storage = storage as Required<Storage>
    this.subresource = subresource
    this.world = world
  }

  /** The same request, of which objects of another kind are told. */
  of(resource: Resource): RestRequest {
    return new RestRequest(this.exchange, { resource, storage: this.storage }, this.subresource, this.world)
  }

  /** Warns of what a request is about once, however often a change is tried. */
  readonly warnOnce = (text: string): void => {
    if (!this.#said.has(text)) this.world.warn(this.exchange, text)
    this.#said.add(text)
  }

  get request(): IncomingMessage {
    return this.exchange.request
  }

  get response(): ServerResponse {
    return this.exchange.response
  }

  /** The key as filters have seen it, so that what is done is what was allowed. */
  get key(): ObjectKey {
    return { namespace: this.namespace, name: this.exchange.info.name }
  }

  /** Empty: of the whole cluster, or of all namespaces. */
  get namespace(): string {
    return this.resource.isNamespaced ? this.exchange.info.namespace : ''
  }

  /** The part of the object that a write changes. */
  get part(): WrittenPart {
    if (!this.resource.hasStatus) return 'all'
    return this.subresource === 'status' ? 'status' : 'other'
  }

  get qualified(): QualifiedResource {
    return { group: this.resource.group, resource: this.resource.plural }
  }

  /** The first value of a query's parameter; empty when there is none. */
  query(name: string): string {
    return queryTexts(this.request.url ?? '/', name)[0] ?? ''
  }

  queries(name: string): readonly string[] {
    return queryTexts(this.request.url ?? '/', name)
  }
}
