import type { Host } from '../actors/host.ts'
import { Listener } from '../actors/listener.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import { type DebugSources, debugApp } from '../routes/debug-routes.ts'
import { nodeListener } from '../routes/node-listener.ts'
import type { AdminListener } from './admin-listener.ts'

/** The permissions: only the user of the process may connect. */
const MODE = 0o600

/**
 * Profiles and the state of a life on a Unix socket, for those who may log in as its user: no
 * network, no token. It is there until the admin listener closes, so that a drain that hangs can be
 * looked at. Bound already; what listens there is replaced only when it is left behind.
 * @throws QuiesceError ERR_LISTEN
 * @see kubernetes/apiserver pkg/server/routes/debugsocket.go
 */
export async function openDebugSocket(host: Host, traffic: Traffic, path: string, sources: DebugSources): Promise<AdminListener> {
  const answer = nodeListener(debugApp(sources))
  const server = await host.servers.http({}, answer)
  traffic.takeOverOwn(server, { admin: true })
  const listener = new Listener(server, { path, mode: MODE }, 'admin')
  await listener.bind(new AbortController().signal)
  return { listener, answer }
}
