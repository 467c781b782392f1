import type { Exploration, Verdict } from '#model'
import { BOLD, painter, RED } from '../base/cells.ts'
import type { Mode } from '../machines/wiring.ts'

/** What was found out about a life in one mode of refusing. */
export interface CheckedMode {
  readonly mode: Mode
  readonly states: number
  readonly edges: number
  readonly ms: number
  readonly properties: readonly { readonly id: string; readonly text: string; readonly holds: boolean }[]
}

export const checkedMode = (mode: Mode, { graph }: Exploration, verdicts: readonly Verdict[], ms: number): CheckedMode => ({
  mode,
  states: graph.stateCount,
  edges: graph.edgeCount,
  ms: Math.round(ms),
  properties: verdicts.map(({ id, text, holds }) => ({ id, text, holds })),
})

export interface VerdictsTextOptions {
  /** What holds, too. */
  readonly verbose: boolean
  readonly color: boolean
}

/** One line that sums up, and below it what fails. */
export function verdictsText({ mode, states, ms, properties }: CheckedMode, { verbose, color }: VerdictsTextOptions): string {
  const paint = painter(color)
  const shown = properties.filter(({ holds }) => verbose || !holds)
  const width = Math.max(0, ...shown.map(({ id }) => id.length))
  const lines = shown.map(({ id, text, holds }) => {
    const line = `  ${holds ? 'holds' : 'FAILS'}  ${id.padEnd(width)}  ${text}`
    return holds ? line : paint(RED, line)
  })
  const held = properties.filter(({ holds }) => holds).length
  const sum = `${mode}: ${held} of ${properties.length} hold, ${groupedDigits(states)} states, ${(ms / 1_000).toFixed(1)} s`
  return `${[paint(held < properties.length ? RED : BOLD, sum), ...lines].join('\n')}\n`
}

/** `2 569` */
export const groupedDigits = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ' ')
