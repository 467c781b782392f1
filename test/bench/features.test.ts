// docs/features.md, from its result file. Fails when: what quiesce does is not what the page says
// of it, in the rows that some quick lives answer; a row or a system has no verdict; or a verdict
// stands there without what was seen.
import { expect, test } from 'vitest'
import { SECTIONS } from '../../bench/features/features.mjs'
import { measureFeatures } from '../../bench/features/measure.mjs'
import { readResult } from '../../bench/sections.mjs'

interface Verdict {
  readonly verdict: string
  readonly evidence: string
}
type Systems = Readonly<Record<string, { readonly name: string; readonly verdicts: Readonly<Record<string, Verdict>> }>>

const { systems } = readResult('features') as { readonly systems: Systems }
const rows = Object.values(SECTIONS).flatMap((section) => Object.keys(section))

/** How long an end takes depends on who else wants the machine. */
const TIMED = new Set(['44'])

test('the page says of quiesce what a probe sees now', async () => {
  const now = (await measureFeatures({ quick: true })) as { readonly systems: Systems }
  const all = Object.entries(now.systems['quiesce']?.verdicts ?? {})
  const seen = all.filter(([row, { verdict }]) => verdict !== 'not run' && !TIMED.has(row))
  expect(seen.length).toBeGreaterThan(30)
  const kept = systems['quiesce']?.verdicts ?? {}
  expect(seen.map(([row, { verdict }]) => [row, verdict])).toEqual(seen.map(([row]) => [row, kept[row]?.verdict]))
})

test('every verdict says what was seen, and ours are all there', () => {
  for (const { name, verdicts } of Object.values(systems))
    for (const [row, { verdict, evidence }] of Object.entries(verdicts)) {
      expect(rows, name).toContain(row)
      if (verdict !== 'not run') expect(evidence, `${name}, ${row}`).not.toBe('')
    }
  expect(rows.filter((row) => systems['quiesce']?.verdicts[row] === undefined)).toEqual([])
})
