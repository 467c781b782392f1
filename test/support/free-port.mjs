// @ts-check
import { createServer } from 'node:net'

/** A port of 127.0.0.1 that nothing listens on. @returns {Promise<number>} */
export async function freePort() {
  const server = createServer()
  await new Promise((resolve) => void server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  await new Promise((resolve) => server.close(resolve))
  return port
}
