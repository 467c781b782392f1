import { isErrorObject } from './errors.ts'

/**
 * Whether what was thrown is only the signal coming back: code that is told to end, and ends by
 * that, has not failed. Node's own functions reject with an AbortError that has the signal's reason
 * as its cause.
 */
export const isOwnAbort = (thrown: unknown, { aborted, reason }: AbortSignal): boolean =>
  aborted && (thrown === reason || (isErrorObject(thrown) && thrown.name === 'AbortError'))
