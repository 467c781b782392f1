import { onTestFinished } from 'vitest'
import { type ApiServer, type ApiServerParts, createApiServerOn } from '#apiserver/api-server.ts'
import { type ApiServerConfig, completeConfig } from '#apiserver/config.ts'
import type { RequestMetrics } from '#apiserver/index.ts'
import { NO_METRICS } from '#apiserver/request-metrics.ts'
import { systemHost } from '#src/actors/host.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import type { Logger } from '#src/log/logger.ts'
import { H2Client } from './h2-client.ts'
import type { Line } from './life.ts'
import { connectTo, type RawClient } from './raw-client.ts'

/** An API server that serves on a port of its own until the test is over. */
export interface ServedApi {
  readonly life: Lifecycle
  readonly port: number
  /** What it has logged. */
  readonly lines: readonly Line[]
  /** What its filters have counted: `terminated 504 /path`. */
  readonly counted: readonly string[]
  ask(path: string, init?: RequestInit): Promise<Response>
  connect(): Promise<RawClient>
  /** To a server with `http2: true`. */
  connectH2(): Promise<H2Client>
}

interface Options extends Omit<ApiServerParts, 'metrics'> {
  readonly config?: ApiServerConfig
  readonly setUp?: (server: ApiServer) => void
}

export async function serveApi({ config = {}, setUp, ...parts }: Options): Promise<ServedApi> {
  const lines: Line[] = []
  const counted: string[] = []
  const logAs =
    (level: Line['level']) =>
    (fields: object, message: string): void =>
      void lines.push({ level, message, fields: { ...fields } })
  const logger: Logger = { debug: logAs('debug'), info: logAs('info'), warn: logAs('warn'), error: logAs('error') }
  const metrics: RequestMetrics = {
    ...NO_METRICS,
    terminated: ({ info }, code) => void counted.push(`terminated ${code} ${info.path}`),
    filterTook: (filter) => void counted.push(`${filter} took time`),
    aborted: ({ info }) => void counted.push(`aborted ${info.path}`),
    authenticated: (result, _, user) => void counted.push(`authenticated: ${[result, user].join(' ').trim()}`),
    endedAfterTimeout: ({ info }, status) => void counted.push(`ended after timeout: ${status} ${info.path}`),
  }
  const completed = completeConfig({ port: 0, host: '127.0.0.1', logger, lastCall: 0, platform: 'unknown', shutdownDelay: 0, ...config })
  const server = createApiServerOn(systemHost, completed, { ...parts, metrics })
  setUp?.(server)
  const life = server.prepare().life as Lifecycle
  onTestFinished(async () => void (await life.stop({ now: true })))
  await life.start()
  const { port } = life.addresses[0] as { readonly port: number }
  const origin = `http://127.0.0.1:${port}`
  return {
    life,
    port,
    lines,
    counted,
    ask: (path, init) => fetch(`${origin}${path}`, init),
    connect: () => connectTo(port),
    connectH2: () => H2Client.open(origin),
  }
}
