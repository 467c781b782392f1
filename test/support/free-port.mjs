// @ts-check
import { once } from 'node:events'
import { createServer } from 'node:net'
import { threadId } from 'node:worker_threads'

/**
 * Below those that systems give to `listen(0)` and to outgoing connections (Linux from 32768, others from 49152): between the look
 * and the use of it, a port of theirs may be given to something else.
 */
const FIRST = 12_000
const LAST = 31_999

/** Processes and threads that run beside each other, whose numbers are close together, begin that far from each other. */
const APART = 61
// None is given twice by one of them.
let last = FIRST + (((process.pid + threadId) * APART) % (LAST - FIRST))

/** A port of 127.0.0.1 that nothing listens on, and another each time. @returns {Promise<number>} */
export async function freePort() {
  for (;;) {
    last = last === LAST ? FIRST : last + 1
    const port = last
    const server = createServer()
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening')
    } catch (cause) {
      if (/** @type {NodeJS.ErrnoException} */ (cause).code === 'EADDRINUSE') continue
      throw cause
    }
    await new Promise((resolve) => server.close(resolve))
    return port
  }
}
