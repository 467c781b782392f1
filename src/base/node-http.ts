import type { ServerResponse as NodeResponse } from 'node:http'
import nodeModule from 'node:module'

/**
 * What is used of `node:http`, without an import of it. An import reads everything that a module
 * exports, also the WebSocket that newer versions of `node:http` make when it is first asked for:
 * undici would be loaded, which takes as much time and memory as all of quiesce, in programs that
 * never use it (Express, Fastify and Nest are CommonJS). No `process.getBuiltinModule`, which Node
 * 20.0 does not have; any absolute path will do for `createRequire`, which has to be a member of
 * the module, as webpack takes an imported `createRequire` away.
 */
export const {
  createServer: createNodeServer,
  ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} = nodeModule.createRequire(process.execPath)('node:http') as typeof import('node:http')

/** The instances of the class. */
export type ServerResponse = NodeResponse
