import { setImmediate as turn } from 'node:timers/promises'
import type { Deleted, DeleteWrite, Got, KeyValueStore, PutWrite, Written } from '#apiserver/store/key-value-store.ts'
import { StoreError } from '#apiserver/store/store-error.ts'
import type { Recorded } from './history.ts'

/** Takes its time with everything, before and after it is done, so that operations overlap. */
export class SlowStore implements Recorded {
  protected readonly store: KeyValueStore
  protected readonly random: () => number

  constructor(store: KeyValueStore, random: () => number) {
    this.store = store
    this.random = random
  }

  async get(key: string): Promise<Got> {
    await this.pause()
    const got = await this.read(key)
    await this.pause()
    return got
  }

  async put(write: PutWrite): Promise<Written> {
    await this.pause()
    const written = await this.write(write)
    await this.pause()
    return written
  }

  async delete(write: DeleteWrite): Promise<Deleted> {
    await this.pause()
    const deleted = await this.store.delete(write)
    await this.pause()
    return deleted
  }

  protected read(key: string): Promise<Got> {
    return this.store.get(key)
  }

  protected write(write: PutWrite): Promise<Written> {
    return this.store.put(write)
  }

  protected happens(ofHundred: number): boolean {
    return this.random() * 100 < ofHundred
  }

  protected async pause(): Promise<void> {
    for (let turns = Math.floor(this.random() * 4); turns > 0; turns--) await turn()
  }
}

/** Answers some reads as a member would that lags behind the others. */
class StaleReads extends SlowStore {
  protected override async read(key: string): Promise<Got> {
    const newest = await this.store.get(key)
    if (!this.happens(10) || newest.entry === undefined) return newest
    return this.store.get(key, newest.entry.modRevision - 1).catch(() => newest)
  }
}

/** Acknowledges some writes that are not there. */
class LostWrites extends SlowStore {
  protected override async write(write: PutWrite): Promise<Written> {
    const { entry: before } = await this.store.get(write.key)
    const written = await this.store.put(write)
    if (written.isDone && this.happens(5))
      await (before === undefined ? this.store.delete({ key: write.key }) : this.store.put({ key: write.key, value: before.value }))
    return written
  }
}

/** Sends some writes again when they have been done, as one does whose answer was slow. */
class WritesTwice extends SlowStore {
  protected override async write(write: PutWrite): Promise<Written> {
    const written = await this.store.put(write)
    if (written.isDone && write.expected !== undefined && this.happens(10)) {
      await this.pause()
      await this.store.put({ key: write.key, value: write.value })
    }
    return written
  }
}

/** Looks whether what is there is what is expected, and writes later. */
class LooksFirst extends SlowStore {
  protected override async write(write: PutWrite): Promise<Written> {
    const { entry } = await this.store.get(write.key)
    if (write.expected !== undefined && write.expected !== (entry?.modRevision ?? 0)) return { isDone: false, current: entry }
    await this.pause()
    return this.store.put({ key: write.key, value: write.value })
  }
}

/** Says of some writes that nothing was changed, and has done them. */
class DoneAndDenied extends SlowStore {
  protected override async write(write: PutWrite): Promise<Written> {
    const written = await this.store.put(write)
    if (written.isDone && this.happens(5)) throw new StoreError('unavailable', 'it says that nothing was changed')
    return written
  }
}

/** Stores that are wrong, each in one way: a check of histories has to find each of them. */
export const MUTANTS: Readonly<Record<string, new (store: KeyValueStore, random: () => number) => SlowStore>> = {
  'answers a stale read': StaleReads,
  'loses an acknowledged write': LostWrites,
  'applies a write twice': WritesTwice,
  'does not check and write at once': LooksFirst,
  'does what it says it has not done': DoneAndDenied,
}
