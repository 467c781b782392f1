import type { Host } from '../actors/host.ts'
import { Listener } from '../actors/listener.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import { debugApp, NOT_A_DEBUG_PATH } from '../routes/debug-routes.ts'
import { nodeListener } from '../routes/node-listener.ts'

/** Only the user of the process may connect. */
const MODE = 0o600

interface Debugged {
  readonly host: Host
  readonly traffic: Traffic
  /** Plain data about the life, taken when it is asked for. */
  readonly look: () => unknown
}

/**
 * Profiles and the state of a life on a Unix socket, for those who may log in as its user: no
 * network, no token. It is there until the admin listener closes, so that a drain that hangs can be
 * looked at. Bound already; what listens there is replaced only when it is left behind.
 * @throws QuiesceError ERR_LISTEN
 * @see kubernetes/apiserver pkg/server/routes/debugsocket.go
 */
export async function openDebugSocket({ host, traffic, look }: Debugged, path: string): Promise<Listener> {
  const app = debugApp({ clock: host.clock, look, resources: () => host.process.getActiveResourcesInfo() })
  const server = await host.servers.http({}, nodeListener(app, NOT_A_DEBUG_PATH))
  traffic.takeOverOwn(server, { admin: true })
  const listener = new Listener(server, { path, mode: MODE }, 'admin')
  await listener.bind(new AbortController().signal)
  return listener
}
