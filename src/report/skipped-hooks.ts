import { andMore } from '../base/and-more.ts'
import type { HookKind, PhaseOutcome } from '../base/events.ts'

/**
 * Pre-shutdown hooks that never ran, and those that they waited for, which were running when the
 * time of all was over. The inspector's page loads this file as it is.
 */
export interface SkippedHooks {
  readonly names: readonly string[]
  /** Empty when the hooks were cut before any had begun. */
  readonly waitedFor: readonly string[]
}

interface HookOutcome {
  readonly kind: HookKind
  readonly name: string
  readonly outcome: PhaseOutcome | null | undefined
  readonly waitedFor?: readonly string[]
}

/** The number of names in a line. */
export const SKIPPED_NAMES_MAX = 3

export function skippedHooks(hooks: Iterable<HookOutcome>): SkippedHooks {
  const own = [...hooks].filter(({ kind }) => kind === 'pre-shutdown')
  const named = (wanted: PhaseOutcome): string[] => own.filter(({ outcome }) => outcome === wanted).map(({ name }) => name)
  const said = new Set(own.flatMap(({ waitedFor = [] }) => waitedFor))
  // A report of an earlier version does not say which.
  return { names: named('skipped'), waitedFor: said.size > 0 ? [...said] : named('cut') }
}

/**
 * A part of a sentence, `pre-shutdown hooks "pool", and 72 more never ran: they waited for "flush",
 * which was cut`, say; undefined when there are none.
 * @param max names that are spelled out
 */
export function skippedWords({ names, waitedFor }: SkippedHooks, max: number): string | undefined {
  if (names.length === 0) return undefined
  const one = names.length === 1
  const why =
    waitedFor.length === 0
      ? ''
      : `: ${one ? 'it' : 'they'} waited for ${listed(waitedFor.map(quoted), max)}, which ${waitedFor.length === 1 ? 'was' : 'were'} cut`
  return `pre-shutdown hook${one ? '' : 's'} ${listed(names.map(quoted), max)} never ran${why}`
}

/**
 * The hooks that an end in the middle of a stop leaves out, `not run to their end: destroy "pool"`,
 * say; undefined when there are none. Post-start hooks run as long as the server does.
 * @param max names that are spelled out
 */
export function unfinishedWords(hooks: Iterable<HookOutcome>, max: number): string | undefined {
  const left = [...hooks].filter(({ kind, outcome }) => kind !== 'post-start' && outcome !== 'ok' && outcome !== 'failed')
  if (left.length === 0) return undefined
  return `not run to their end: ${listed(
    left.map(({ kind, name }) => `${kind} ${quoted(name)}`),
    max,
  )}`
}

const quoted = (name: string): string => JSON.stringify(name)

function listed(names: readonly string[], max: number): string {
  if (names.length < 2 || names.length > max) return andMore(names, max)
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
