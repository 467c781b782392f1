import type { WireAnswer } from './ports.ts'
import { PLAIN_TEXT } from './respond.ts'

/** The same as `textAnswer`, as the wire of a protocol sends it: for what no handler answers. */
export function plainAnswer(status: number, reasonPhrase: string, body = `${reasonPhrase}\n`): WireAnswer {
  return { status, reasonPhrase, headers: { ...PLAIN_TEXT, 'Content-Length': String(Buffer.byteLength(body)) }, body }
}
