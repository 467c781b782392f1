import { serviceUnavailable } from '../../status-errors.ts'
import { groupVersion } from '../resource/define-resource.ts'
import type { AttemptedWrite } from '../write-barrier.ts'
import type { RestRequest } from './rest-request.ts'

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/**
 * Lets reads pass, and the writes that no barrier holds.
 * @throws StatusError 503
 * @see kubernetes/apiserver pkg/endpoints/filters/storageversion.go WithStorageVersionPrecondition
 */
export function passBarriers({ exchange, resource, storage, namespace, world }: RestRequest): void {
  if (world.barriers.length === 0) return
  const { info, user } = exchange
  const { create, update, delete: remove } = storage as Partial<typeof storage>
  // What is kept nowhere is a question.
  if (READS.has(info.verb) || (create ?? update ?? remove) === undefined) return
  const { group, plural, storageVersion } = resource
  const write: AttemptedWrite = {
    verb: info.verb,
    group,
    resource: plural,
    encodingVersion: groupVersion(group, storageVersion),
    namespace,
    name: info.name,
    user,
  }
  for (const barrier of world.barriers) {
    const why = barrier(write)
    if (why !== undefined) throw serviceUnavailable(why)
  }
}
