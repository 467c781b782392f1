import type { ServerResponse } from 'node:http'

const encodingOf = (given: unknown): BufferEncoding => (typeof given === 'string' ? (given as BufferEncoding) : 'utf8')

/**
 * Sends the body of an answer as bytes, when a header has bytes beyond ASCII. Node sends the head
 * together with a body that is text, and then encodes both like the body: the bytes of a header
 * would be encoded twice.
 */
export function sendBodyAsBytes(response: ServerResponse): void {
  for (const name of ['write', 'end'] as const) {
    const send = response[name] as (...args: readonly unknown[]) => unknown
    const sendBytes = (chunk: unknown, ...rest: readonly unknown[]): unknown =>
      typeof chunk === 'string'
        ? send.call(response, Buffer.from(chunk, encodingOf(rest[0])), ...rest.filter((arg) => typeof arg === 'function'))
        : send.call(response, chunk, ...rest)
    Object.assign(response, { [name]: sendBytes })
  }
}
