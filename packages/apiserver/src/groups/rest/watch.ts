import { StatusError, tooLargeResourceVersion } from '../../status-errors.ts'
import type { ApiObject } from '../api-object.ts'
import type { StorageEvent } from '../storage/storage.ts'
import { type ListOptions, listOptions } from './options.ts'
import { negotiateOutput } from './output.ts'
import type { RestRequest } from './rest-request.ts'
import { WatchStream } from './watch-stream.ts'

/**
 * Gives a client what is there, where it asks for that, and then every change, until its time is
 * over, the server ends it in its turn, or it leaves.
 * @see kubernetes/apiserver pkg/endpoints/handlers/watch.go
 */
export async function watchObjects(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'stream')
  const options = listOptions(rest, true)
  const { namespace, name } = rest.key
  // What no conversion changes: the fields that can be selected are name and namespace.
  const isConcerned = (object: ApiObject): boolean =>
    (namespace === '' || object.metadata.namespace === namespace) &&
    (name === '' || object.metadata.name === name) &&
    options.fields.matches(object)
  const isWanted = (object: ApiObject): boolean => isConcerned(object) && options.labels(object.metadata.labels)
  const { after, initial } = await beginning(rest, options, isWanted)
  const { allowsBookmarks, sendInitialEvents: marksInitial = false } = options
  const stream = new WatchStream(rest, output, { initial, allowsBookmarks, marksInitial })
  const ended = stream.open()
  try {
    const hear = (event: StorageEvent): void => give(stream, event, isWanted)
    stream.follow(await rest.storage.watch(after, hear, ({ failure }) => stream.fail(failure), isConcerned))
  } catch (thrown) {
    if (!(thrown instanceof StatusError)) {
      stream.end()
      throw thrown
    }
    stream.fail(thrown.failure)
  }
  await ended
}

interface Beginning {
  readonly after: string
  /** Undefined: the client knows what is there. */
  readonly initial: readonly ApiObject[] | undefined
}

async function beginning(rest: RestRequest, options: ListOptions, matches: (object: ApiObject) => boolean): Promise<Beginning> {
  const { resourceVersion, sendInitialEvents = resourceVersion === '' } = options
  if (!sendInitialEvents && resourceVersion !== '') return { after: resourceVersion, initial: undefined }
  const page = await rest.storage.list({
    namespace: rest.namespace,
    matches,
    limit: undefined,
    at: undefined,
    start: '',
    ...(resourceVersion !== '' && { notOlderThan: resourceVersion }),
  })
  if (resourceVersion !== '' && BigInt(resourceVersion) > BigInt(page.resourceVersion))
    throw tooLargeResourceVersion(resourceVersion, page.resourceVersion)
  return { after: page.resourceVersion, initial: sendInitialEvents ? page.items : undefined }
}

/** An object that comes to be wanted is added, and one that is no more wanted is deleted. */
function give(stream: WatchStream, event: StorageEvent, isWanted: (object: ApiObject) => boolean): void {
  const was = event.previous !== undefined && isWanted(event.previous)
  const is = event.type !== 'DELETED' && isWanted(event.object)
  if (is || was) stream.give(is ? (was ? 'MODIFIED' : 'ADDED') : 'DELETED', event)
}
