import { QuiesceError } from './errors.ts'

/**
 * A module that the command line imports only to look at its server must not start it: a check in
 * CI would serve until something ended it. Kept under a registered symbol, because the module may
 * have another copy of this package.
 */
const KEY: unique symbol = Symbol.for('quiesce.lookedAt') as never

interface Looking {
  /** The first call that was refused. */
  refused?: QuiesceError
}

const shared = globalThis as { [KEY]?: Looking | undefined }

/**
 * Calls `look`, while which no life of this process can be run or started.
 * @throws QuiesceError ERR_LOOKED_AT when one was, also when the module has caught that itself
 */
export async function lookedAt<T>(look: () => Promise<T>): Promise<T> {
  const looking: Looking = {}
  shared[KEY] = looking
  try {
    const found = await look()
    if (looking.refused) throw looking.refused
    return found
  } catch (thrown) {
    throw looking.refused ?? thrown
  } finally {
    shared[KEY] = undefined
  }
}

/** @throws QuiesceError ERR_LOOKED_AT while a module is looked at */
export function refuseWhileLookedAt(call: string): void {
  const looking = shared[KEY]
  if (!looking) return
  looking.refused ??= new QuiesceError(
    'ERR_LOOKED_AT',
    `${call} is called while its module is imported: export the server instead of running it`,
  )
  throw looking.refused
}
