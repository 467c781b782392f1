import { existsSync } from 'node:fs'

/**
 * Where the process runs, and with it how much time a stop may take: every platform kills what has not ended by then, and
 * only some keep sending traffic to a process that they have already told to stop.
 */

/** How documentation says where an option has another default. What that is stands with the option: tables.ts. */
export const WHERE = {
  kubernetes: 'on Kubernetes',
  'cloud-run': 'on Cloud Run',
  systemd: 'under systemd',
  pm2: 'under PM2',
  container: 'in a container',
  unknown: 'elsewhere',
} as const

export type PlatformName = keyof typeof WHERE
export const PLATFORM_NAMES = Object.keys(WHERE) as readonly PlatformName[]

export interface Platform {
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
  return wanted === 'auto' ? detected(facts) : { name: wanted, reason: 'given' }
}

function detected({ env, pid, terminal, containerFile }: PlatformFacts): Platform {
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
