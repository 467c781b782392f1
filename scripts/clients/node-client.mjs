// @ts-check
// A client of node or of undici, which asks until its server is gone. Arguments: what it is, the longest pause between
// an answer and the next request, the address, how many requests at a time, the method. Says when each lane has had an answer, and at the end what it lost, by its own record. It adds nothing to its library: no retries.
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { connect } from 'node:http2'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

const [, , kind = '', longestPauseMs = '', url = '', lanes = '', method = ''] = process.argv
const BODY = method === 'POST' ? 'x'.repeat(2000) : undefined

/** Each asks once; it rejects when no whole answer with status 200 came. @type {Record<string, () => Promise<() => Promise<void>>>} */
const KINDS = {
  async agent() {
    const isEncrypted = url.startsWith('https')
    const agent = new (isEncrypted ? HttpsAgent : HttpAgent)({ keepAlive: true })
    const request = isEncrypted ? httpsRequest : httpRequest
    return () =>
      new Promise((resolve, reject) => {
        const asked = request(url, { agent, method, ...(BODY && { headers: { 'content-length': BODY.length } }) }, (response) => {
          response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(String(response.statusCode)))))
          response.on('error', reject)
          response.resume()
        })
        asked.on('error', reject)
        asked.end(BODY)
      })
  },

  /** One that is closed, or was told, is not used again. */
  async session() {
    /** @type {import('node:http2').ClientHttp2Session | undefined} */
    let session
    return () =>
      new Promise((resolve, reject) => {
        if (!session || session.closed || session.destroyed) session = connect(url).on('error', () => {})
        const stream = session.request({ ':method': method }, { endStream: !BODY })
        let status = 0
        let hasEnded = false
        stream.on('response', (headers) => (status = Number(headers[':status'])))
        stream.on('end', () => (hasEnded = true))
        stream.on('error', reject)
        stream.on('close', () =>
          hasEnded && status === 200 ? resolve() : reject(new Error(`status ${status}, stream error ${stream.rstCode}`)),
        )
        stream.resume()
        if (BODY) stream.end(BODY)
      })
  },

  async undici() {
    const { Agent, request } = await import('undici')
    const dispatcher = new Agent({ allowH2: true, connections: 2, connect: { rejectUnauthorized: false } })
    return async () => {
      const { statusCode, body } = await request(url, { dispatcher, method: /** @type {'GET' | 'POST'} */ (method), body: BODY ?? null })
      await body.text()
      if (statusCode !== 200) throw new Error(String(statusCode))
    }
  },

  async fetch() {
    return async () => {
      const response = await fetch(url, { method, ...(BODY && { body: BODY }) })
      await response.text()
      if (!response.ok) throw new Error(String(response.status))
    }
  },
}

/** @param {unknown} error */
const codeOf = (error) => {
  const { code, cause, message } = /** @type {{ code?: string, cause?: { code?: string }, message: string }} */ (error)
  return cause?.code ?? code ?? message
}
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))

const ask = await /** @type {() => Promise<() => Promise<void>>} */ (KINDS[kind])()
let asked = 0
let unserved = Number(lanes)
/** @type {Record<string, number>} */
const lost = {}
async function ride() {
  let isServed = false
  for (;;) {
    try {
      asked++
      await ask()
      if (!isServed && --unserved === 0) console.log('serving')
      isServed = true
    } catch (error) {
      const code = codeOf(error)
      // The server is gone, and the request was never sent.
      if (code === 'ECONNREFUSED') return
      lost[code] = (lost[code] ?? 0) + 1
    }
    await pause(Math.random() * Number(longestPauseMs))
  }
}
await Promise.all(Array.from({ length: Number(lanes) }, ride))
console.log(JSON.stringify({ asked, lost }))
process.exit()
