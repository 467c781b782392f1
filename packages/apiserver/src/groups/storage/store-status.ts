import {
  badRequest,
  entityTooLarge,
  expired,
  internalError,
  type StatusError,
  serverTimeout,
  serviceUnavailable,
  tooLargeResourceVersion,
} from '../../status-errors.ts'
import { StoreError } from '../../store/store-error.ts'

/** What a client is answered that a store has refused. */
export function asStatus(thrown: unknown): unknown {
  return thrown instanceof StoreError ? statusOfStore(thrown) : thrown
}

/** What a client is told whose watch the store has ended: it lists again where that is of use. */
export const statusOfEnded = (why: StoreError): StatusError =>
  why.reason === 'unavailable' ? expired(`the watch of the storage has ended: ${why.message}`) : statusOfStore(why)

export function statusOfStore({ reason, message, details }: StoreError): StatusError {
  switch (reason) {
    case 'compacted':
      return expired(`too old resource version: ${details['asked']} (${details['compacted']})`)
    case 'future':
      return tooLargeResourceVersion(String(details['asked']), String(details['current']))
    case 'invalid-key':
      return badRequest(message)
    case 'too-large':
      return entityTooLarge(message)
    case 'damaged':
      return internalError(message)
    case 'unknown':
      return serverTimeout(message)
    case 'closed':
      return serviceUnavailable('the storage has been closed')
    case 'unavailable':
      return serviceUnavailable(message)
  }
}
