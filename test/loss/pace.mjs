// @ts-check

/**
 * @typedef {object} Request
 * @property {'GET' | 'POST'} method
 * @property {string} path
 * @property {string} body
 * @property {{ readonly pieces: number, readonly everyMs: number }} [pace] how its body is sent; all at once without it
 */

/**
 * Sends the body, and stops when the connection is gone.
 * @param {import('node:stream').Writable} stream @param {Request} request @param {() => void} [sent] called when all of it has been
 */
export function sendBody(stream, { body, pace }, sent = () => {}) {
  if (!pace) {
    if (body !== '') stream.write(body)
    return sent()
  }
  const size = Math.ceil(body.length / pace.pieces)
  let from = 0
  const timer = setInterval(() => {
    if (stream.destroyed || !stream.writable) return clearInterval(timer)
    stream.write(body.slice(from, from + size))
    from += size
    if (from < body.length) return
    clearInterval(timer)
    sent()
  }, pace.everyMs)
}
