import type { Clock } from '../engine.ts'

/** Gets what a URL of https has, with no redirects. */
export type TrustedFetch = (url: string, init?: { readonly headers?: Headers; readonly signal?: AbortSignal }) => Promise<Response>

const TIMEOUT_MS = 5_000
/** More than any configuration or key set has. */
const BYTES_MAX = 1_048_576

export const isHttps = (given: unknown): given is string =>
  typeof given === 'string' && URL.canParse(given) && new URL(given).protocol === 'https:'

/**
 * What of `fetch` is needed to ask an issuer, of which node's own cannot be told whom to trust.
 * @param ca certificates as PEM; undefined: those of the system
 */
export const fetchTrusting =
  (ca: string | undefined, clock: Clock): TrustedFetch =>
  async (url, { headers, signal } = {}) => {
    const { request } = await import('node:https')
    const late = new AbortController()
    const timer = clock.setTimeout(() => late.abort(), TIMEOUT_MS)
    const bounds = [late.signal, ...(signal ? [signal] : [])]
    const given = { accept: 'application/json', ...Object.fromEntries(headers ?? []) }
    return new Promise<Response>((resolve, reject) => {
      const asking = request(url, { headers: given, signal: AbortSignal.any(bounds), agent: false, ...(ca !== undefined && { ca }) })
      asking.once('response', (message) => {
        const chunks: Buffer[] = []
        let size = 0
        message.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          size += chunk.length
          if (size > BYTES_MAX) message.destroy(new Error(`more than ${BYTES_MAX} bytes`))
        })
        message.once('error', reject)
        message.once('end', () => resolve(new Response(Buffer.concat(chunks), { status: message.statusCode ?? 502 })))
      })
      // Without a listener node destroys the socket, and says nothing of it but that it has closed.
      asking.once('upgrade', ({ statusCode }, socket) => {
        socket.destroy()
        reject(new Error(`answered ${statusCode}`))
      })
      asking.once('error', reject)
      asking.end()
    }).finally(() => clock.clearTimeout(timer))
  }
