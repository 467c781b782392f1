// `npm run bench`, without measuring. Fails when: a verdict is not that of the interval; a part of
// docs/comparison.md is not made of its result file; or a section does not keep to its type.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { comparisonMarkdown, measuredParts } from '../../bench/document.mjs'
import { allSections } from '../../bench/sections.mjs'
import { summarize } from '../../bench/statistics.mjs'
import { fact, measuredText, rowOf, verdictOf } from '../../bench/verdict.mjs'

describe('a verdict', () => {
  const tight = summarize([0.98, 0.981, 0.982, 0.979, 0.98, 0.983, 0.98])

  test.each([
    [{ atLeast: 0.97 }, 'met'],
    [{ atLeast: 0.98 }, 'open'],
    [{ atLeast: 0.99 }, 'missed'],
    [{ atMost: 0.99 }, 'met'],
    [{ atMost: 0.98 }, 'open'],
    [{ atMost: 0.97 }, 'missed'],
  ])('of what is surely 0.979 to 0.983 against %j is %s', (target, verdict) => {
    expect(verdictOf(tight, target)).toBe(verdict)
  })

  test('is open on a machine whose noise spans the target, whatever the median is', () => {
    const noisy = summarize([0.7, 0.8, 0.95, 1, 1.02, 1.1, 1.4])
    expect(noisy.median).toBe(1)
    expect(verdictOf(noisy, { atLeast: 0.97 })).toBe('open')
    expect(verdictOf(noisy, { atMost: 1.05 })).toBe('open')
  })

  test('is the same with one measurement that something else has disturbed', () => {
    const disturbed = summarize([0.98, 0.981, 0.982, 0.979, 0.98, 0.983, 0.98, 0.98, 0.981, 0.3])
    expect(verdictOf(disturbed, { atLeast: 0.97 })).toBe('met')
  })

  test('is open below six measurements, of which not even the range is an interval of 95 %', () => {
    expect(verdictOf(summarize([1, 1, 1, 1, 1]), { atMost: 2 })).toBe('open')
    expect(verdictOf(summarize([1, 1, 1, 1, 1, 1]), { atMost: 2 })).toBe('met')
  })

  test('of a fact needs no second measurement', () => {
    expect(verdictOf(fact(0), { atMost: 0 })).toBe('met')
    expect(rowOf('lost', fact(1), { target: { atMost: 0 }, digits: 0 })).toEqual({
      what: 'lost',
      measured: '1',
      target: 'at most 0',
      verdict: 'missed',
    })
  })

  test('does not blame the program for a machine that is slow, before or after', () => {
    const target = { atMost: 5 }
    expect(verdictOf(summarize([8, 8, 8, 8, 8, 8]), target, [1.1, 1.4])).toBe('missed')
    for (const pace of [
      [1.1, 2],
      [2, 1.1],
    ] as const) {
      expect(verdictOf(summarize([8, 8, 8, 8, 8, 8]), target, pace)).toBe('open')
      expect(rowOf('end', summarize([8, 8, 8, 8, 8, 8]), { target, pace }).verdict).toBe('open')
      expect(verdictOf(summarize([4, 4, 4, 4, 4, 4]), target, pace)).toBe('met')
    }
  })

  test('of what could not be measured is open', () => {
    expect(verdictOf(summarize([]), { atMost: 1 })).toBe('open')
    expect(verdictOf({ median: Number.NaN, interval: [Number.NaN, Number.NaN] }, { atMost: 1 })).toBe('open')
  })
})

test('an interval is written behind its median', () => {
  expect(measuredText({ median: 0.968, interval: [0.9612, 0.9749] })).toBe('0.97 (0.96 to 0.97)')
  expect(measuredText(fact(19), 0)).toBe('19')
})

describe('the page', () => {
  const about = { section: 'made-up', date: '2026-01-02', commit: 'abc', machine: '2 cores', versions: { Node: '20.0.0' } }
  const part = (cpu: number) => ({
    section: {
      name: 'made-up',
      title: 'Made up',
      minutes: 1,
      run: () => Promise.reject(new Error('nothing is measured here')),
      rows: (result: { cpu: number }) => [rowOf('CPU', fact(result.cpu), { target: { atMost: 5 } })],
      markdown: (result: { cpu: number }) => `It needs ${result.cpu} ms.`,
    },
    result: { ...about, cpu },
  })

  test('has the numbers, the counts of verdicts and the circumstances of a result', () => {
    const text = comparisonMarkdown([part(4)])
    expect(text).toContain('| [Made up](#made-up) | 1 | 0 | 0 |')
    expect(text).toContain('## Made up\n\nMeasured, 2026-01-02, commit abc; 2 cores; Node 20.0.0.\n\nIt needs 4 ms.')
    expect(comparisonMarkdown([part(6)])).toContain('| [Made up](#made-up) | 0 | 0 | 1 |')
  })

  test('says which results are of a short run', () => {
    const { section, result } = part(4)
    expect(comparisonMarkdown([{ section, result: { ...result, quick: true } }])).toContain('**A short run')
    expect(comparisonMarkdown([part(4)])).not.toContain('**A short run')
  })

  // `npm run generate:check` draws the pictures as well, which takes its time.
  test('that is kept is made of the result files', async () => {
    const kept = readFileSync('docs/comparison.md', 'utf8')
    expect(kept === comparisonMarkdown(await measuredParts()), 'docs/comparison.md is stale: npm run generate').toBe(true)
  })
})

describe('each section', async () => {
  const sections = await allSections()

  test.each(sections)('$name has what the frame asks of it', (section) => {
    expect(section).toMatchObject({ name: expect.any(String), title: expect.any(String), minutes: expect.any(Number) })
    expect(section.run).toBeTypeOf('function')
  })

  test.each(await measuredParts())('$section.name shows its result, and none of its numbers is missing', ({ section, result }) => {
    const text = section.markdown(result)
    expect(result.section).toBe(section.name)
    for (const row of section.rows(result)) expect(JSON.stringify(row)).not.toMatch(/NaN|undefined/)
    expect(text).not.toMatch(/\b(NaN|undefined)\b/)
  })
})
