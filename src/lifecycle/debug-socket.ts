import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Session } from 'node:inspector/promises'
import { pipeline } from 'node:stream/promises'
import { getHeapSnapshot } from 'node:v8'
import type { Host } from '../actors/host.ts'
import { Listener } from '../actors/listener.ts'
import { toError } from '../base/errors.ts'
import { type Answer, respond } from '../http/respond.ts'
import type { Traffic } from '../http/traffic/traffic.ts'

/** Only the user of the process may connect. */
const MODE = 0o600
const SECONDS_DEFAULT = 30
const SECONDS_MAX = 600

/** What is served, and in which words the index says so. */
const PATHS = {
  '/debug/life': 'the report so far, what is in flight, and how far the end has come',
  '/debug/handles': 'what keeps the process alive, by kind',
  '/debug/pprof/profile': `a CPU profile (.cpuprofile) of ?seconds=${SECONDS_DEFAULT}, at most ${SECONDS_MAX}`,
  '/debug/pprof/heap': 'a heap snapshot (.heapsnapshot); the process stands still while it is taken',
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
  let isProfiling = false
  const server = await debugged.host.servers.http({}, (request, response) => {
    const failed = (error: unknown): void => respond(response, plain(500, toError(error).message))
    const url = new URL(request.url ?? '/', 'http://debug')
    switch (url.pathname as keyof typeof PATHS) {
      case '/debug/life':
        return respond(response, json(debugged.look()))
      case '/debug/handles':
        return respond(response, json(counted(debugged.host.process.getActiveResourcesInfo())))
      case '/debug/pprof/heap':
        sendSnapshot(response).catch(failed)
        return
      case '/debug/pprof/profile': {
        const seconds = Number(url.searchParams.get('seconds') ?? SECONDS_DEFAULT)
        if (!(seconds > 0 && seconds <= SECONDS_MAX)) return respond(response, plain(400, `seconds: above 0, at most ${SECONDS_MAX}`))
        if (isProfiling) return respond(response, plain(409, 'a profile is being taken'))
        isProfiling = true
        profile(debugged.host, seconds, request, response)
          .catch(failed)
          .finally(() => {
            isProfiling = false
          })
        return
      }
      default:
        return respond(response, url.pathname === '/' ? plain(200, INDEX) : plain(404, INDEX))
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

const plain = (status: number, text: string): Answer => ({
  status,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  body: `${text}\n`,
})

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

const fileHeaders = (name: string) => ({
  'Content-Type': 'application/json',
  'Content-Disposition': `attachment; filename="${name}-${process.pid}"`,
})

async function sendSnapshot(response: ServerResponse): Promise<void> {
  // What can fail comes before the head: a failure is an answer, too.
  const snapshot = getHeapSnapshot()
  response.writeHead(200, fileHeaders('heap.heapsnapshot'))
  // A client that leaves has seen enough.
  await pipeline(snapshot, response).catch(() => {})
}

/** Ends early with its client, or with the process's other work. */
async function profile({ clock }: Host, seconds: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { Session: Inspector } = await import('node:inspector/promises')
  const session: Session = new Inspector()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    await new Promise<void>((resolve) => {
      const timer = clock.setTimeout(resolve, seconds * 1_000)
      request.socket.once('close', () => {
        clock.clearTimeout(timer)
        resolve()
      })
    })
    const { profile: taken } = await session.post('Profiler.stop')
    if (response.destroyed) return
    const text = JSON.stringify(taken)
    response.writeHead(200, fileHeaders('cpu.cpuprofile'))
    response.end(text)
  } finally {
    session.disconnect()
  }
}
