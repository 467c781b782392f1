import { existsSync } from 'node:fs'
import { disposedTogether } from '../base/disposables.ts'
import type { StopReason } from '../base/events.ts'
import { look } from '../base/look.ts'
import { cloudRun } from './cloud-run.ts'
import { cluster } from './cluster.ts'
import { container } from './container.ts'
import { ecs } from './ecs.ts'
import { fly } from './fly.ts'
import { heroku } from './heroku.ts'
import { kubernetes } from './kubernetes.ts'
import { nomad } from './nomad.ts'
import type { FollowedLife, Kill, PlatformDefaults, PlatformFacts, PlatformProcess, PlatformSpec } from './platform.ts'
import { pm2 } from './pm2.ts'
import { type Started, whyUnreachableBySignal } from './script-shell.ts'
import { systemd } from './systemd.ts'
import { terminal } from './terminal.ts'
import { unknown } from './unknown.ts'

/**
 * Where a process may run, and with it how much time a stop may take: every platform kills what has
 * not ended by then, and only some keep sending traffic to a process that they have already told to
 * stop.
 *
 * The first with a sign is it, so what is nearer to the process, or more specific, comes first:
 * Knative sets `K_SERVICE` on Kubernetes, where its queue proxy has already waited; PM2 runs inside
 * of what follows it; and a Nomad agent under systemd passes that unit's variables on.
 */
export const PLATFORMS = [
  cloudRun,
  kubernetes,
  pm2,
  fly,
  nomad,
  ecs,
  heroku,
  systemd,
  container,
  unknown,
] as const satisfies readonly PlatformSpec[]

export type PlatformName = (typeof PLATFORMS)[number]['name']
export const PLATFORM_NAMES: readonly PlatformName[] = PLATFORMS.map(({ name }) => name)
export const OTHER_PLATFORM_NAMES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  (PLATFORMS as readonly PlatformSpec[]).map(({ name, otherNames = [] }) => [name, otherNames]),
)

export interface Platform {
  readonly name: PlatformName
  /** What gave it away, for the log and the report. */
  readonly reason: string
}

/** The platform, with the reason for the choice. */
export function detectPlatform(facts: PlatformFacts, wanted: PlatformName | 'auto' = 'auto'): Platform {
  if (wanted !== 'auto') return { name: wanted, reason: 'given' }
  for (const { name, signs } of PLATFORMS) {
    const sign = signs.find(({ isThere }) => isThere(facts))
    if (sign) return { name, reason: sign.words }
  }
  throw new Error('the last platform is always there')
}

/** The defaults of an option by platform, and at a terminal. */
export function defaultsByPlatform(option: keyof PlatformDefaults): Readonly<Partial<Record<PlatformName | 'terminal', string>>> {
  const places: readonly { readonly name: string; readonly defaults: PlatformDefaults }[] = [...PLATFORMS, terminal]
  return Object.fromEntries(places.flatMap(({ name, defaults }) => (defaults[option] === undefined ? [] : [[name, defaults[option]]])))
}

/** Tells every platform that waits for it that the server is ready. */
export async function announceReady(process: PlatformProcess, signal: AbortSignal): Promise<void> {
  const specs: readonly PlatformSpec[] = PLATFORMS
  await Promise.all(specs.flatMap(({ ready }) => ready?.(process, signal) ?? []))
}

/** Lets every platform that wants to know follow a life. */
export function followLife(process: PlatformProcess, life: FollowedLife): void {
  const specs: readonly PlatformSpec[] = PLATFORMS
  for (const { follow } of specs) follow?.(process, life)
}

/**
 * Calls `stop` whenever a platform asks for the end by another way than an OS signal, until
 * disposed.
 */
export function onStopRequest(process: PlatformProcess, stop: (reason: StopReason) => void): Disposable {
  const specs: readonly PlatformSpec[] = PLATFORMS
  const listening = [cluster, ...specs].flatMap(({ stopRequests }) => stopRequests?.(process, stop) ?? [])
  return disposedTogether(listening)
}

/** When a platform kills a process that it has asked to end; undefined where that is not known. */
export function killOf(platform: PlatformName, env: PlatformFacts['env']): Kill | undefined {
  const specs: readonly PlatformSpec[] = PLATFORMS
  const kills = specs.find(({ name }) => name === platform)?.kills
  return kills && { ...kills, after: kills.setTo?.(env) ?? kills.after }
}

/** Whether requests may still be sent to a process that is told to stop there. */
export function sendsOn(platform: PlatformName): boolean {
  const specs: readonly PlatformSpec[] = PLATFORMS
  return !specs.some(({ name, endsTrafficFirst }) => name === platform && endsTrafficFirst)
}

/** Why a stop of that platform does not reach this process; see {@link whyUnreachableBySignal}. */
export function whyUnstoppable(platform: PlatformName, started: Started): string | undefined {
  const specs: readonly PlatformSpec[] = PLATFORMS
  return specs.some(({ name, signalsAll }) => name === platform && signalsAll) ? undefined : whyUnreachableBySignal(started)
}

type ProcessRead = Pick<NodeJS.Process, 'env' | 'pid'> & Readonly<Record<'stdin' | 'stdout', { readonly isTTY?: boolean }>>

/** Reads the facts; a test gives a process of its own. */
export const processFacts = ({ env, pid, stdin, stdout }: ProcessRead = process): PlatformFacts => ({
  env,
  pid,
  terminal: Boolean(stdin.isTTY || stdout.isTTY),
  // When it is needed: a platform that was given is not looked for.
  get containerFile() {
    return Boolean(look(() => existsSync('/.dockerenv')) || look(() => existsSync('/run/.containerenv')))
  },
})
