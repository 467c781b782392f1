import { checkArguments, checkFields, withFields } from '../engine.ts'
import type { ApiObject } from '../groups/api-object.ts'
import { StatusError } from '../status-errors.ts'
import type { ResourceClient } from './resource-client.ts'

export interface RewriteOptions {
  /** Ends it; what is written then stays so. */
  readonly signal: AbortSignal
  /**
   * Is given each object that could not be written, and why, and the next one is tried. Default:
   * the first failure rejects.
   */
  readonly failed?: (object: ApiObject, error: unknown) => void
}

const A_CLIENT = withFields('a client that can list and update', 'list', 'update')

/**
 * Writes every object of a kind as it is. The server stores those anew that are stored in another
 * version than they would be now, and leaves the others alone, so that it can be done again. One
 * that another writer has changed or deleted meanwhile is left as that writer has it.
 * @returns how many the server has taken
 * @throws QuiesceError ERR_OPTION_INVALID
 * @see kubernetes-sigs/kube-storage-version-migrator pkg/migrator/core.go
 * @example
 * const rewritten = await rewriteObjects(loopbackResource(server.loopback, widgets), { signal })
 */
export async function rewriteObjects(client: Pick<ResourceClient, 'list' | 'update'>, options: RewriteOptions): Promise<number> {
  checkArguments('rewriteObjects(client, options)', [client, A_CLIENT], [options, withFields('an object with signal', 'signal')])
  const { signal, failed } = checkFields('rewriteObjects()', options, ['signal', 'failed'])
  const { items } = await client.list({ signal })
  let taken = 0
  for (const object of items) {
    signal.throwIfAborted()
    try {
      await client.update(object, { signal })
      taken++
    } catch (thrown) {
      if (signal.aborted) throw thrown
      if (isLeftToOthers(thrown)) continue
      if (failed === undefined) throw thrown
      failed(object, thrown)
    }
  }
  return taken
}

const isLeftToOthers = (thrown: unknown): boolean => thrown instanceof StatusError && [404, 409].includes(thrown.failure.code)
