import { describe, expect, test } from 'vitest'
import type { LifecycleEvent } from '#src/base/events.ts'
import { readRecording } from '#src/cli/read-recording.ts'
import { lifecycleSvg } from '#src/diagram/index.ts'
import { journalOfReport } from '#src/inspector/from-report.ts'
import type { JournalEntry } from '#src/inspector/protocol.ts'
import { Recording } from '#src/inspector/recording.ts'
import { badLife, quietLife, reportOf } from '../report/lives.ts'
import { newLife, refusal } from '../support/life.ts'

const factsOf = (entries: readonly JournalEntry[]): LifecycleEvent[] =>
  entries.flatMap((entry) => (entry.kind === 'fact' ? [entry.event] : []))
const ndjson = (entries: readonly object[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')

describe('a report as a journal', () => {
  test('has the times of signals and phases as they were', () => {
    const report = reportOf(quietLife)
    const entries = journalOfReport(report)
    expect(entries.map(({ n }) => n)).toEqual(entries.map((_, index) => index + 1))
    expect(entries[0]).toMatchObject({ kind: 'opening', source: 'report', wallAtStart: report.startedAt, deadlineMs: 12_000 })
    expect(entries.at(-1)).toMatchObject({ kind: 'report', report })
    const timesOf = (events: readonly LifecycleEvent[]) =>
      events.flatMap((event) => (event.type === 'signal' ? [[event.name, event.at, event.outcome, event.reason]] : []))
    expect(timesOf(factsOf(entries))).toEqual(timesOf(quietLife))
    const times = factsOf(entries).map(({ at }) => at)
    expect(times).toEqual(times.toSorted((a, b) => a - b))
  })

  test.each([
    ['a quiet life', quietLife, 0],
    ['a life in which all goes wrong', badLife, 1],
  ] as const)('of %s says what its report says', (_, events, exitCode) => {
    const report = reportOf(events, exitCode)
    const again = reportOf(factsOf(journalOfReport(report)), exitCode)
    const { phases, hooks, signals, errors, requests, watches, connections, handlers, reason, forced } = report
    expect(again).toMatchObject({ hooks: expect.arrayContaining([...hooks]), signals, reason, forced })
    expect(again.phases.map(({ name, start, end, outcome }) => ({ name, start, end, outcome }))).toEqual(
      expect.arrayContaining(phases.map(({ name, start, end, outcome }) => ({ name, start, end, outcome }))),
    )
    for (const { where } of errors) expect(again.errors.map((error) => error.where)).toContain(where)
    const ended = (name: string): boolean => phases.some((phase) => phase.name === name && phase.end !== null)
    if (ended('request-drain')) expect(again.requests).toEqual(requests)
    if (ended('watch-drain')) expect(again.watches).toEqual(watches)
    if (ended('close-connections')) expect(again.connections).toEqual(connections)
    if (ended('handlers')) expect(again.handlers).toEqual(handlers)
  })

  test('of a life as it was, with phases of its own, draws the same chart', async () => {
    const { life, end } = await livedWith('retry-after')
    const report = await end()
    const { composition } = new Recording(journalOfReport(report))
    expect(composition).toMatchObject({ mode: 'retry-after', postStartHooks: [{ name: 'warm' }], userPhases: [{ name: 'flush-queue' }] })
    expect(lifecycleSvg(composition)).toBe(lifecycleSvg(life.plan()))
  })
})

async function livedWith(whileDraining: 'refuse' | 'retry-after') {
  const made = newLife({ options: { whileDraining } })
  made.life.addPostStartHook('warm', () => {})
  made.life.addPhase('flush-queue', () => {})
  await made.life.start()
  return { life: made.life, end: () => made.end() }
}

describe('a file', () => {
  const entries = journalOfReport(reportOf(quietLife))

  test('is a report or a journal, whose last line may be half a line', () => {
    expect(readRecording(JSON.stringify(reportOf(quietLife), undefined, 2)).after(0)).toHaveLength(entries.length)
    const journal = readRecording(ndjson(entries))
    expect(journal.after(0).map(({ text }) => JSON.parse(text) as unknown)).toEqual(JSON.parse(JSON.stringify(entries)))
    expect(journal.report).toMatchObject({ exitCode: 0 })
    const cut = readRecording(ndjson(entries).slice(0, -100))
    expect(cut.after(0)).toHaveLength(entries.length - 1)
    expect(cut.report).toBeUndefined()
    expect(journal.after(3)).toHaveLength(entries.length - 3)
  })

  test.each([
    ['', 'neither a report nor a journal of quiesce, version 1'],
    ['{', 'neither a report nor a journal of quiesce, version 1'],
    ['{"name":"quiesce"}', 'neither a report nor a journal of quiesce, version 1'],
    [ndjson([{ ...entries[0], format: 2 }]), 'neither a report nor a journal of quiesce, version 1'],
    [ndjson(entries.slice(1)), 'neither a report nor a journal of quiesce, version 1'],
    [`${ndjson(entries.slice(0, 2))}oops\n${ndjson(entries.slice(2))}`, 'line 3 is not an entry of a journal'],
    [JSON.stringify({ ...reportOf(quietLife), phases: 1 }), 'not a complete report: phases: got 1, allowed: array'],
  ])('that is none is refused: %.30s', (content, message) => {
    expect(refusal(() => readRecording(content))).toMatchObject({ code: 'ERR_JOURNAL_READ', message })
  })
})
