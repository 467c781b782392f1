import { formatDuration, parseDuration } from '../base/duration.ts'
import { FRONTS, type FrontName } from '../platforms/fronts.ts'
import type { PlatformFacts } from '../platforms/platform.ts'
import { killOf, type Platform } from '../platforms/platforms.ts'
import type { DefaultDuration } from './times.ts'

/** The time after which the platform kills; undefined where none is known. */
export function chosenKill(given: DefaultDuration | undefined, platform: Platform, { env }: PlatformFacts): DefaultDuration | undefined {
  const kill = killOf(platform.name, env)
  return given ?? (kill && { ms: parseDuration('killAfter', kill.after), because: `platform ${platform.name}` })
}

/**
 * What limits from outside do to the times of a life, where both are known. Nothing is refused: the
 * platform may have been set to another time, which only `killAfter` can say.
 */
export function outsideWarnings(chosen: Readonly<Record<string, DefaultDuration>>, platform: Platform, { env }: PlatformFacts): string[] {
  const { killAfter, deadline, shutdownDelay } = chosen
  if (!killAfter || !deadline || deadline.ms < killAfter.ms) return []
  const isGiven = killAfter.because === 'given'
  const kill = formatDuration(killAfter.ms)
  const killer = `the ${kill} after which ${isGiven ? 'the process is killed (killAfter)' : `platform ${platform.name} kills`}`
  const delayed =
    shutdownDelay && shutdownDelay.ms >= killAfter.ms
      ? `, which its shutdown delay of ${formatDuration(shutdownDelay.ms)} uses up alone`
      : ''
  const setBy = killOf(platform.name, env)?.setBy?.replaceAll('`', '')
  const raise = setBy === undefined ? '' : `: raise ${setBy}${isGiven ? '' : ' and say so with killAfter'}, or give a shorter one`
  return [
    `deadline ${formatDuration(deadline.ms)} (${deadline.because}) is not below ${killer}${delayed}: what is in flight then is cut off, and the end is not run${raise || ': give a shorter one'}`,
  ]
}

/** The same for how long connections stay open that are idle. */
export function idleWarnings(keepAliveTimeoutMs: number, behind: FrontName | undefined): string[] {
  const front = FRONTS.find(({ name }) => name === behind)
  const idle = front && 'idle' in front ? front.idle : undefined
  if (!front || idle === undefined || keepAliveTimeoutMs > parseDuration('idle', idle)) return []
  const given = formatDuration(keepAliveTimeoutMs)
  return [
    `keepAliveTimeout ${given} is not above the ${idle} for which ${front.where} keeps an idle connection: it sends requests on connections that this server closes, and they are lost. Leave it out, or give ${front.defaults.keepAliveTimeout}`,
  ]
}
