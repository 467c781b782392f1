import type { Host } from '../actors/host.ts'
import { Listener } from '../actors/listener.ts'
import { pathOf } from '../http/request-info.ts'
import { type Answer, respond } from '../http/respond.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import { PROFILES } from './profile-names.ts'
import { plainAnswer, sendProfile } from './profiles.ts'

/** Only the user of the process may connect. */
const MODE = 0o600

/** What is served, and in which words the index says so. */
const PATHS = {
  '/debug/life': 'the report so far, what is in flight, and how far the end has come',
  '/debug/handles': 'what keeps the process alive, by kind',
  '/debug/pprof/profile': PROFILES.profile,
  '/debug/pprof/heap': PROFILES.heap,
} as const

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
export async function openDebugSocket(debugged: Debugged, path: string): Promise<Listener> {
  const server = await debugged.host.servers.http({}, (request, response) => {
    const { url = '/' } = request
    const path = pathOf(url)
    switch (path as keyof typeof PATHS) {
      case '/debug/life':
        return respond(response, json(debugged.look()))
      case '/debug/handles':
        return respond(response, json(counted(debugged.host.process.getActiveResourcesInfo())))
      case '/debug/pprof/heap':
        return sendProfile('heap', url, response, debugged.host.clock)
      case '/debug/pprof/profile':
        return sendProfile('profile', url, response, debugged.host.clock)
      default:
        return respond(response, path === '/' ? plainAnswer(200, INDEX) : plainAnswer(404, INDEX))
    }
  })
  debugged.traffic.takeOverOwn(server, { admin: true })
  const listener = new Listener(server, { path, mode: MODE }, 'admin')
  await listener.bind(new AbortController().signal)
  return listener
}

const INDEX = Object.entries(PATHS)
  .map(([path, what]) => `${path}\n    ${what}`)
  .join('\n')

const json = (value: unknown): Answer => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: `${JSON.stringify(value, undefined, 2)}\n`,
})

function counted(kinds: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
