import { Observable } from 'rxjs'
import type { Subscriber } from 'rxjs/internal/Subscriber'
import type { ClientEvent, ListWatch, Snapshot } from '#apiserver/client/resource-client.ts'
import { type ApiObject, expired, StatusError } from '#apiserver/index.ts'

interface Written {
  readonly revision: number
  readonly event: Exclude<ClientEvent, { type: 'BOOKMARK' }>
}

/**
 * A server of one kind that keeps all that was ever written, and behaves as badly as a server may:
 * its watches stall, end, fail and give twice what they gave, it forgets, and its lists fail.
 */
export class ScriptedSource implements ListWatch {
  readonly name = 'demo.example/v1/things'
  readonly objects = new Map<string, ApiObject>()
  readonly written: Written[] = []
  /** What is older cannot be watched. */
  forgotten = 0
  revision = 100
  failingLists = 0
  failingWatches = 0
  isStalled = false
  lists = 0
  watches = 0
  #uids = 0
  #watching = new Map<Subscriber<ClientEvent>, number>()

  write(name: string, isDeletion: boolean): void {
    const revision = ++this.revision
    const old = this.objects.get(name)
    if (isDeletion && old === undefined) return void this.revision--
    const uid = isDeletion || old ? (old?.metadata.uid as string) : `uid-${++this.#uids}`
    const object: ApiObject = { kind: 'Thing', apiVersion: 'demo.example/v1', metadata: { name, uid, resourceVersion: String(revision) } }
    if (isDeletion) this.objects.delete(name)
    else this.objects.set(name, object)
    this.written.push({ revision, event: { type: isDeletion ? 'DELETED' : old ? 'MODIFIED' : 'ADDED', object } })
    this.deliver()
  }

  /** Gives every watch what it has not had, unless it is stalled. */
  deliver(): void {
    if (this.isStalled) return
    for (const [subscriber, after] of [...this.#watching]) {
      this.#watching.set(subscriber, this.revision)
      for (const { revision, event } of this.written) if (revision > after) subscriber.next(event)
    }
  }

  stall(is: boolean): void {
    this.isStalled = is
    this.deliver()
  }

  /** Gives the last events that a watch has had once more. */
  repeatLast(count: number): void {
    for (const [subscriber, given] of [...this.#watching])
      for (const { event } of this.written.filter(({ revision }) => revision <= given).slice(-count)) subscriber.next(event)
  }

  bookmark(): void {
    for (const [subscriber, after] of [...this.#watching]) subscriber.next({ type: 'BOOKMARK', resourceVersion: String(after) })
  }

  /** Ends all watches: in order, or by an error. */
  end(error?: Error): void {
    for (const subscriber of [...this.#watching.keys()])
      if (error) subscriber.error(error)
      else subscriber.complete()
  }

  forget(): void {
    this.forgotten = this.revision
  }

  get openWatches(): number {
    return this.#watching.size
  }

  async list(): Promise<Snapshot> {
    this.lists++
    await Promise.resolve()
    if (this.failingLists > 0) {
      this.failingLists--
      throw new StatusError({ message: 'no leader', reason: 'ServiceUnavailable', code: 503 })
    }
    return { items: [...this.objects.values()], resourceVersion: String(this.revision) }
  }

  watch(after: string): Observable<ClientEvent> {
    return new Observable((subscriber) => {
      this.watches++
      if (this.failingWatches > 0) {
        this.failingWatches--
        return subscriber.error(new Error('socket hang up'))
      }
      if (Number(after) < this.forgotten) return subscriber.error(expired(`too old resource version: ${after} (${this.forgotten})`))
      this.#watching.set(subscriber, Number(after))
      this.deliver()
      return () => void this.#watching.delete(subscriber)
    })
  }
}
