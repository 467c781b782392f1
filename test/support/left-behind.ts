import { once } from 'node:events'
import { linkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { temporaryFolder } from './process.ts'

/** The path of a Unix socket on which nobody accepts any more, as a killed process leaves it. */
export async function leftBehind(): Promise<string> {
  const folder = temporaryFolder()
  const [made, left] = [join(folder, 'made.sock'), join(folder, 'left.sock')]
  const server = createServer().listen(made)
  await once(server, 'listening')
  // Node removes the path that it has made, and no other.
  linkSync(made, left)
  await once(server.close(), 'close')
  return left
}
