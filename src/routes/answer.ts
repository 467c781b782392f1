import type { Context } from 'hono'
import type { EncodedAnswer } from '../http/respond.ts'
import type { RequestLike } from '../http/url.ts'

/** An answer of ours as fetch has it: with its length, which a HEAD request learns by that. */
export function toResponse({ status, headers, body }: EncodedAnswer): Response {
  const sent = new Headers()
  // One by one: of two spellings of a name, the last wins, as on a response of node.
  for (const [name, content] of Object.entries(headers)) sent.set(name, content)
  sent.set('Content-Length', String(Buffer.byteLength(body)))
  return new Response(body as ConstructorParameters<typeof Response>[0], { status, headers: sent })
}

/** Node's request, where there is one: a check may look at it, and its target is as it was sent. */
export function requestOf(c: Context): RequestLike {
  const { incoming } = (c.env ?? {}) as { readonly incoming?: Partial<RequestLike> }
  if (typeof incoming?.url === 'string' && typeof incoming.headers === 'object') return incoming as RequestLike
  const { method, url, headers } = c.req.raw
  return { method, url, headers: Object.fromEntries(headers) }
}
