import { existsSync } from 'node:fs'

/**
 * Where the process runs, and with it how much time a stop may take: every platform kills what has not ended by then, and
 * only some keep sending traffic to a process that they have already told to stop.
 */

export interface PlatformDefaults {
  /** Time between StopRequested and the moment new requests may be refused. */
  readonly delayMs: number
  /** Time from StopRequested to the end by force. */
  readonly deadlineMs: number
}

export const PLATFORMS = {
  /** SIGTERM and the removal from the endpoints race, hence a delay; SIGKILL comes after 30 s. */
  kubernetes: { delayMs: 5_000, deadlineMs: 25_000 },
  /** Traffic ends before SIGTERM; SIGKILL comes after 10 s. */
  'cloud-run': { delayMs: 0, deadlineMs: 8_000 },
  /** TimeoutStopSec is 90 s. */
  systemd: { delayMs: 0, deadlineMs: 80_000 },
  /** kill_timeout is 1.6 s. */
  pm2: { delayMs: 0, deadlineMs: 1_400 },
  /** `docker stop` waits 10 s. */
  container: { delayMs: 0, deadlineMs: 8_000 },
  unknown: { delayMs: 0, deadlineMs: 8_000 },
} as const satisfies Record<string, PlatformDefaults>

/** A stop that a person waits for: Ctrl-C on a terminal, or a restart by `node --watch`. No client of theirs is worth a last call. */
export const INTERACTIVE_DEFAULTS = { delayMs: 0, lastCallMs: 0, deadlineMs: 2_000 } as const satisfies PlatformDefaults & {
  readonly lastCallMs: number
}

export type PlatformName = keyof typeof PLATFORMS
export const PLATFORM_NAMES = Object.keys(PLATFORMS) as readonly PlatformName[]

export interface Platform extends PlatformDefaults {
  readonly name: PlatformName
  /** What gave it away, for the log and the report. */
  readonly reason: string
}

/** What the detection looks at; plain data, so that a test can be anywhere. */
export interface PlatformFacts {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly pid: number
  /** Standard input or output is a terminal. */
  readonly terminal: boolean
  /** `/.dockerenv` or `/run/.containerenv` exists. */
  readonly containerFile: boolean
}

type LookedAt = Pick<NodeJS.Process, 'env' | 'pid'> & Readonly<Record<'stdin' | 'stdout', { readonly isTTY?: boolean }>>

/** Reads the facts; a test gives a process of its own. */
export const processFacts = ({ env, pid, stdin, stdout }: LookedAt = process): PlatformFacts => ({
  env,
  pid,
  terminal: Boolean(stdin.isTTY || stdout.isTTY),
  containerFile: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
})

/**
 * The platform, with the reason for the choice. The most specific sign wins: Knative sets `K_SERVICE` on Kubernetes, where
 * its queue proxy has already waited, and a container of systemd or PM2 is theirs before it is a container.
 */
export function detectPlatform(facts: PlatformFacts, wanted: PlatformName | 'auto' = 'auto'): Platform {
  const { name, reason } = wanted === 'auto' ? detected(facts) : { name: wanted, reason: 'given' }
  return { name, reason, ...PLATFORMS[name] }
}

function detected({ env, pid, terminal, containerFile }: PlatformFacts): { name: PlatformName; reason: string } {
  if (env['K_SERVICE']) return { name: 'cloud-run', reason: 'K_SERVICE is set' }
  if (env['KUBERNETES_SERVICE_HOST']) return { name: 'kubernetes', reason: 'KUBERNETES_SERVICE_HOST is set' }
  // Only PM2's own children have pm_id; PM2_HOME is a setting that people keep in their shell.
  if (env['pm_id'] !== undefined) return { name: 'pm2', reason: 'pm_id is set' }
  if (env['NOTIFY_SOCKET']) return { name: 'systemd', reason: 'NOTIFY_SOCKET is set' }
  // A desktop session is a unit too, and every shell in it inherits INVOCATION_ID.
  if (env['INVOCATION_ID'] && !terminal) return { name: 'systemd', reason: 'INVOCATION_ID is set and there is no terminal' }
  if (containerFile) return { name: 'container', reason: '/.dockerenv or /run/.containerenv exists' }
  if (pid === 1) return { name: 'container', reason: 'the process is PID 1' }
  return { name: 'unknown', reason: 'no sign of any platform' }
}

/** Whether a person waits for the end of this stop. `node --watch` restarts with SIGTERM, and marks its child in the environment. */
export const isInteractiveStop = (facts: PlatformFacts, signal: string): boolean =>
  facts.env['WATCH_REPORT_DEPENDENCIES'] !== undefined || (signal === 'SIGINT' && facts.terminal)
