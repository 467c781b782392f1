import { type Exploration, unreached, untaken, untakenText, type Verdict } from '#model'
import { BOLD, painter, RED } from '../base/cells.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import type { Mode } from '../machines/wiring.ts'

interface Represented {
  readonly registered: number
  readonly explored: number
}

/** What was found out about a life in one mode of refusing. */
export interface CheckedMode {
  readonly mode: Mode
  readonly states: number
  readonly edges: number
  readonly ms: number
  /** How many it has, and how many of them stand for all. */
  readonly postStartHooks: Represented
  readonly muxSignals: Represented
  readonly properties: readonly Pick<Verdict, 'id' | 'text' | 'holds' | 'vacuous'>[]
  /** Ids of the states that no run enters, and the transitions that none takes. */
  readonly unreached: readonly string[]
  readonly untaken: readonly string[]
}

export const checkedMode = (
  registered: LifePlan,
  explored: LifePlan,
  exploration: Exploration,
  verdicts: readonly Verdict[],
  ms: number,
): CheckedMode => ({
  mode: registered.mode,
  postStartHooks: represented(registered.postStartHooks, explored.postStartHooks),
  muxSignals: represented(registered.muxSignals, explored.muxSignals),
  states: exploration.graph.stateCount,
  edges: exploration.graph.edgeCount,
  ms: Math.round(ms),
  properties: verdicts.map(({ id, text, holds, vacuous }) => ({ id, text, holds, ...(vacuous !== undefined && { vacuous }) })),
  unreached: unreached(exploration).map(({ state }) => state),
  untaken: untaken(exploration)
    .filter(({ why }) => why !== 'unreached')
    .map(untakenText),
})

const represented = (registered: readonly unknown[] = [], explored: readonly unknown[] = []): Represented => ({
  registered: registered.length,
  explored: explored.length,
})

export interface VerdictsTextOptions {
  /** What holds, too. */
  readonly verbose: boolean
  readonly color: boolean
}

/** One line that sums up, and below it what fails. */
export function verdictsText(checked: CheckedMode, { verbose, color }: VerdictsTextOptions): string {
  const { mode, states, ms, properties } = checked
  const paint = painter(color)
  const shown = properties.filter(({ holds }) => verbose || !holds)
  const width = Math.max(0, ...shown.map(({ id }) => id.length))
  const lines = shown.map(({ id, text, holds, vacuous }) => {
    const why = vacuous === undefined ? '' : ` (vacuous: ${vacuous})`
    const line = `  ${holds ? 'holds' : 'FAILS'}  ${id.padEnd(width)}  ${text}${why}`
    return holds ? line : paint(RED, line)
  })
  const held = properties.filter(({ holds }) => holds).length
  const sum = `${mode}: ${held} of ${properties.length} hold, ${groupedDigits(states)} states, ${(ms / 1_000).toFixed(1)} s`
  return `${[paint(held < properties.length ? RED : BOLD, sum), ...lines, ...representedLines(checked), ...coverageLines(checked, verbose)].join('\n')}\n`
}

const representedLines = ({ postStartHooks, muxSignals }: CheckedMode): string[] =>
  Object.entries({ 'post-start hooks': postStartHooks, 'mux-complete signals': muxSignals }).flatMap(([what, { registered, explored }]) =>
    explored === registered ? [] : [`  ${explored} of ${registered} ${what} stand for all: they differ in nothing but their names`],
  )

/**
 * What no run comes to. In most lives that is the part of the machine that they do not use, so
 * their number has to do.
 */
function coverageLines({ unreached: states, untaken: transitions }: CheckedMode, verbose: boolean): string[] {
  if (verbose)
    return [...states.map((state) => `  never reached  ${state}`), ...transitions.map((transition) => `  never taken  ${transition}`)]
  if (states.length + transitions.length === 0) return []
  return [`  ${states.length} states never reached, ${transitions.length} transitions never taken (--verbose names them)`]
}

/** `2 569` */
export const groupedDigits = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ' ')
