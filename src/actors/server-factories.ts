import type { RequestListener, Server, ServerOptions } from 'node:http'
import type { ServerOptions as Http2Options, Http2SecureServer, Http2Server, SecureServerOptions } from 'node:http2'
import type { ServerOptions as HttpsOptions, Server as HttpsServer } from 'node:https'
import { createNodeServer } from '../base/node-http.ts'

/**
 * Makes the servers of a life that brings its own. Modules that a plain server does not need are
 * loaded by the first one that does.
 */
export interface ServerFactories {
  http(options: ServerOptions, listener: RequestListener): Promise<Server>
  https(options: HttpsOptions, listener: RequestListener): Promise<HttpsServer>
  /** A server without TLS, for clients that know beforehand that it is HTTP/2. */
  http2(options: Http2Options, listener: RequestListener): Promise<Http2Server>
  http2Secure(options: SecureServerOptions, listener: RequestListener): Promise<Http2SecureServer>
}

/** Node's own. */
export const nodeServers: ServerFactories = {
  http: async (options, listener) => createNodeServer(options, listener),
  https: async (options, listener) => (await import('node:https')).createServer(options, listener),
  http2: async (options, listener) => (await import('node:http2')).createServer(options, forHttp2(listener)),
  http2Secure: async (options, listener) => (await import('node:http2')).createSecureServer(options, forHttp2(listener)),
}

type Http2Listener = NonNullable<Parameters<typeof import('node:http2').createServer>[1]>

/** Node's requests and responses of HTTP/2 have what those of HTTP/1.1 have. */
const forHttp2 = (listener: RequestListener): Http2Listener => listener as unknown as Http2Listener
