// docs/features.md, from its result file. Fails when: what quiesce does is not what the page says
// of it, in the rows that some quick lives answer; a row or a system has no verdict; or a verdict
// stands there without what was seen.
import { expect, test } from 'vitest'
import { SECTIONS } from '../../bench/features/features.mjs'
import { measureFeatures } from '../../bench/features/measure.mjs'
import { ROWS as ROWS_OF_OUR_OWN } from '../../bench/features/own.mjs'
import { readResult } from '../../bench/sections.mjs'

interface Verdict {
  readonly verdict: string
  readonly evidence: string
}
type Systems = Readonly<Record<string, { readonly name: string; readonly verdicts: Readonly<Record<string, Verdict>> }>>

const { systems } = readResult('features') as { readonly systems: Systems }
const rows = Object.values(SECTIONS).flatMap((section) => Object.keys(section))

/** How long things take depends on who else wants the machine: so often is each row looked at. */
const LOOKS = 3

test('the page says of quiesce what a probe sees now', async () => {
  const kept = systems['quiesce']?.verdicts ?? {}
  let otherwise: readonly (readonly [string, string, string | undefined])[] = []
  for (let look = 0; look < LOOKS; look++) {
    const now = (await measureFeatures({ quick: true })) as { readonly systems: Systems }
    const seen = Object.entries(now.systems['quiesce']?.verdicts ?? {}).filter(
      ([row, { verdict }]) => verdict !== 'not run' && !(row in ROWS_OF_OUR_OWN),
    )
    expect(seen.length).toBeGreaterThan(30)
    const wrong = seen.filter(([row, { verdict }]) => verdict !== kept[row]?.verdict)
    const before = new Set(otherwise.map(([row]) => row))
    otherwise = wrong
      .filter(([row]) => look === 0 || before.has(row))
      .map(([row, { verdict, evidence }]) => [row, `${verdict}: ${evidence}`, kept[row]?.verdict])
    if (otherwise.length === 0) return
  }
  expect(otherwise).toEqual([])
})

test('every verdict says what was seen, and ours are all there', () => {
  for (const { name, verdicts } of Object.values(systems))
    for (const [row, { verdict, evidence }] of Object.entries(verdicts)) {
      expect(rows, name).toContain(row)
      if (verdict !== 'not run') expect(evidence, `${name}, ${row}`).not.toBe('')
    }
  expect(rows.filter((row) => systems['quiesce']?.verdicts[row] === undefined)).toEqual([])
})
