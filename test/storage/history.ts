import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Deleted, KeyValue, KeyValueStore, StoreEngine, Written } from '#apiserver/store/key-value-store.ts'
import { StoreError } from '#apiserver/store/store-error.ts'
import { type Answer, type Asked, faultsOf, type Seen, type StoreOperation } from './register-model.ts'

/** What a history needs of a store. */
export type Recorded = Pick<KeyValueStore, 'get' | 'put' | 'delete'>

export const CLIENTS = 8
const KEYS = ['/h/a', '/h/b', '/h/c']
/** Of a hundred writes, of how many the client does not wait for the answer. */
const FORSAKEN = 3

const seenOf = (entry: KeyValue | undefined): Seen | undefined =>
  entry && {
    value: Buffer.from(entry.value).toString(),
    createRevision: entry.createRevision,
    modRevision: entry.modRevision,
  }

const answerOf = (result: Written | Deleted): Answer =>
  result.isDone
    ? { is: 'done', revision: result.revision, previous: 'previous' in result ? seenOf(result.previous) : undefined }
    : { is: 'refused', current: seenOf(result.current) }

async function ask(store: Recorded, key: string, asked: Asked): Promise<Answer> {
  if (asked.what === 'get') {
    const { entry, revision } = await store.get(key)
    return { is: 'read', entry: seenOf(entry), revision }
  }
  const { expected } = asked
  return answerOf(
    asked.what === 'put'
      ? await store.put({ key, value: new Uint8Array(Buffer.from(asked.value)), expected })
      : await store.delete({ key, expected }),
  )
}

/**
 * Clients of a store, or of several that share what they keep, and what they have asked and seen.
 */
export class HistoryRecorder {
  readonly history: StoreOperation[] = []
  readonly #random: () => number
  #time = 0
  #value = 0

  /** @param random what decides all choices: the same has the same clients */
  constructor(random: () => number) {
    this.#random = random
  }

  /** One client, which asks one thing after the other, until it has asked enough or is stopped. */
  async client(name: string, store: Recorded, count: number, isOver: () => boolean = () => false): Promise<void> {
    const known = new Map<string, number>()
    for (let done = 0; done < count && !isOver(); done++) {
      const key = KEYS[this.#integer(KEYS.length)] as string
      const asked = this.#choose(known.get(key) ?? 0)
      const answer = await this.#record(name, store, key, asked)
      if (answer === undefined) continue
      if (answer.is === 'done') known.set(key, asked.what === 'put' ? answer.revision : 0)
      else known.set(key, (answer.is === 'read' ? answer.entry : answer.current)?.modRevision ?? 0)
    }
  }

  /** What is there in the end. */
  async readAll(store: Recorded): Promise<void> {
    for (const key of KEYS) await this.#record('last', store, key, { what: 'get' })
  }

  #integer(below: number): number {
    return Math.floor(this.#random() * below)
  }

  #choose(known: number): Asked {
    const dice = this.#integer(100)
    const expected = this.#integer(3) > 0 ? known : undefined
    if (dice < 40) return { what: 'get' }
    return dice < 85 ? { what: 'put', value: `v${++this.#value}`, expected } : { what: 'delete', expected }
  }

  async #record(client: string, store: Recorded, key: string, asked: Asked): Promise<Answer | undefined> {
    const calledAt = ++this.#time
    const asking = ask(store, key, asked)
    if (client !== 'last' && asked.what !== 'get' && this.#integer(100) < FORSAKEN) {
      this.history.push({ client, key, asked, calledAt })
      asking.catch(() => {})
      return undefined
    }
    try {
      const answer = await asking
      this.history.push({ client, key, asked, calledAt, answeredAt: ++this.#time, answer })
      return answer
    } catch (thrown) {
      if (!(thrown instanceof StoreError)) throw thrown
      // What is said to have changed nothing has none: it is no part of the history.
      if (thrown.reason === 'unknown') this.history.push({ client, key, asked, calledAt })
      await sleep(5)
      return undefined
    }
  }
}

/** A store that is closed with its test. */
export async function openEngine(engine: StoreEngine): Promise<KeyValueStore> {
  const store = await engine.open({ signal: new AbortController().signal, onCondition: () => {} })
  onTestFinished(() => store.close())
  return store
}

/** @param seed what repeats the choices of its clients */
export function expectLinearizable(history: readonly StoreOperation[], seed: number): void {
  const [fault] = faultsOf(history)
  if (fault !== undefined) throw new Error(`seed ${seed}: ${fault}`)
}
