// @ts-check
// Loaded before every server of the documents, whose words stay as they are: a request with the
// header `x-slow: MS` has its answer so much later. Its client is told by a 102 that it is under
// way.
import { ServerResponse } from 'node:http'

const { end } = ServerResponse.prototype
/** @type {WeakSet<ServerResponse>} */
const slowed = new WeakSet()

// @ts-expect-error: one signature for all of end()'s
ServerResponse.prototype.end = function (...args) {
  const ms = Number(this.req?.headers['x-slow'] ?? 0)
  if (ms > 0 && !slowed.has(this)) {
    slowed.add(this)
    this.writeProcessing()
    setTimeout(() => end.apply(this, /** @type {Parameters<typeof end>} */ (args)), ms)
    return this
  }
  return end.apply(this, /** @type {Parameters<typeof end>} */ (args))
}
