import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { systemHost } from '#src/actors/host.ts'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { createServerOn } from '#src/create-server.ts'
import { chartOf } from '#src/diagram/read-chart.ts'
import type { JournalEntry } from '#src/inspector/protocol.ts'
import { composeLifecycle } from '#src/machines/lifecycle.ts'
import type { Report } from '#src/report/report.ts'
import { summary } from '#src/report/summary.ts'
import { reduceLife } from '#src/report/view.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'
import { linesOf, type Span, spanOf, ticksOf, zoomed } from '../../packages/inspector-page/src/core/axis.ts'
import { blockingOf } from '../../packages/inspector-page/src/core/blocking.ts'
import { GLOSSARY } from '../../packages/inspector-page/src/core/glossary.ts'
import { ReceivedJournal } from '../../packages/inspector-page/src/core/journal.ts'
import { lanesOf } from '../../packages/inspector-page/src/core/lanes.ts'
import { lifeStatusOf, type SourceStatus } from '../../packages/inspector-page/src/core/life-status.ts'
import { LOG_FILTER, LOG_KINDS, type LogKind, lineOf, matches } from '../../packages/inspector-page/src/core/log-lines.ts'
import { machineTree } from '../../packages/inspector-page/src/core/machines.ts'
import { outcomeOf } from '../../packages/inspector-page/src/core/outcome.ts'
import { advance, FOLLOWING, goTo, play, step, stepSignal } from '../../packages/inspector-page/src/core/playback.ts'
import { type Row, rowItemsOf, rowOf, sideOf } from '../../packages/inspector-page/src/core/rows.ts'
import { seriesOf } from '../../packages/inspector-page/src/core/series.ts'
import { plannedCuts, spentOf } from '../../packages/inspector-page/src/core/spent.ts'
import {
  activeStates,
  regionLines,
  settledStates,
  stateLine,
  statusOfPhase,
  workingPhases,
} from '../../packages/inspector-page/src/core/states.ts'
import { EMPTY_VIEW, edgeKey, reduce, type View } from '../../packages/inspector-page/src/core/view.ts'
import { count, durationText, listText, offset, running } from '../../packages/inspector-page/src/core/words.ts'

/** What the page makes of a real life's journal, without any browser. */

const LIVE: SourceStatus = { kind: 'live' }
const OVER: SourceStatus = { kind: 'closed', source: 'live' }

/** Stopped after five seconds, with a hook that fails and one that does not. */
async function recordedLife(): Promise<JournalEntry[]> {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-'))
  const file = join(folder, 'journal.ndjson')
  const clock = new VirtualClock()
  const host = { ...systemHost, clock, random: () => 0, process: new FakeProcess().asHostProcess() }
  const life = createServerOn(
    host,
    { listener: (_, response) => void response.end() },
    {
      platform: 'unknown',
      port: 0,
      host: '127.0.0.1',
      logger: false,
      exit: 'natural',
      journal: file,
      shutdownDelay: '1s',
      deadline: '12s',
    },
  )
  life.addPreShutdownHook('leave', () => {
    throw new Error('the registry is gone')
  })
  life.addPreShutdownHook('flush', () => {})
  await life.start()
  await clock.advance(5_000)
  let over = false
  const ended = life.stop('the test asks').finally(() => {
    over = true
  })
  // Beside the sockets, which are real.
  while (!over) await clock.advance(1)
  await ended
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n')
  rmSync(folder, { recursive: true })
  return lines.map((line) => JSON.parse(line) as JournalEntry)
}

let entries: JournalEntry[]
let journal: ReceivedJournal
beforeAll(async () => {
  entries = await recordedLife()
  journal = journalOf(entries)
})

function journalOf(entries: readonly JournalEntry[]): ReceivedJournal {
  const journal = new ReceivedJournal()
  for (const entry of entries) journal.append(entry)
  return journal
}
/** The view when a signal has just fired. */
function viewWhen(signal: string): View {
  const position = entries.findIndex((entry) => entry.kind === 'fact' && entry.event.type === 'signal' && entry.event.name === signal)
  expect(position).toBeGreaterThan(0)
  return journal.viewAt(position)
}

const stopAt = ({ life }: View): number => life.stop?.at ?? 0

const rowsOf = (view: View, now: number, span: Span): readonly Row[] =>
  rowItemsOf(view).flatMap((item) => (item.kind === 'group' ? [] : [rowOf(item, view, now, span)]))

/** Just before half of the delay is over, and with it what `notify-clients` does. */
function inTheDelay(): View {
  return journal.viewAt(journal.positionAt(stopAt(journal.last) + 499))
}

describe('a journal', () => {
  test('gives the view at any entry, as it was when that entry was the last', () => {
    let view = EMPTY_VIEW
    const seen = entries.map((entry) => {
      const before = structuredClone(view)
      const next = reduce(view, entry)
      expect(view).toEqual(before)
      view = next
      return next
    })
    // More than one stretch between two kept views, or this tests nothing.
    expect(entries.length).toBeGreaterThan(140)
    for (const [position, expected] of [...seen.entries()].reverse()) expect(journal.viewAt(position)).toEqual(expected)
    expect(journal.viewAt(-1)).toEqual(EMPTY_VIEW)
    expect(journal.viewAt(9_999)).toBe(journal.last)
  })

  test('takes what comes twice once, and begins anew with an opening', () => {
    const again = journalOf(entries)
    expect(again.append(entries.at(-1) as JournalEntry)).toBe(false)
    expect(again.length).toBe(entries.length)
    for (const entry of entries) again.append(entry)
    expect(again.length).toBe(entries.length)
    expect(again.last).toEqual(journal.last)
    again.append(entries[0] as JournalEntry)
    expect(again.length).toBe(1)
    expect(again.landmarks).toEqual([])
    expect(again.gaugesBetween(0, 1e9)).toEqual([])
  })

  test('finds the entry of a time, and what was measured in between', () => {
    const end = entries.at(-1) as JournalEntry
    expect(journal.positionAt(-1)).toBe(0)
    expect(journal.positionAt(end.at)).toBe(entries.length - 1)
    expect(journal.gaugesBetween(0, end.at).length).toBeGreaterThan(0)
    const [only] = journal.gaugesBetween(end.at, end.at)
    expect(only).toBe(entries.findLast(({ kind }) => kind === 'gauges'))
  })
})

describe('the status of a life', () => {
  test('goes from starting to the exit code', () => {
    const shapes = entries.map((_, position) => {
      const view = journal.viewAt(position)
      return lifeStatusOf(view, LIVE, view.at).shape
    })
    expect([...new Set(shapes)]).toEqual(['starting', 'serving', 'stopping', 'failed'])
  })

  test('says what a shutdown is doing and how long it still may', () => {
    const view = inTheDelay()
    const { headline, detail } = lifeStatusOf(view, LIVE, stopAt(view) + 500)
    expect(headline).toBe('Shutting down: waiting for shutdown-delay; over in 0.5s')
    expect(detail).toBe('For 0.5s, 11.5s left, asked by stop(): the test asks. Under way: notify-clients and shutdown-delay.')
  })

  test('names what blocks the exit, what has failed and how much is refused', () => {
    const view = viewWhen('NotAcceptingNewRequest')
    const gauges = {
      ...(entries.find((entry) => entry.kind === 'gauges') as Extract<JournalEntry, { kind: 'gauges' }>),
      at: view.at,
      requests: 51,
      rejected: { 'not-accepting': 2, late: 1 },
      blocking: { requests: [{ name: 'GET /hang', ageMs: 9_000 }], watches: [], holds: [], handlers: [], hooks: [], connections: [] },
    }
    const draining = {
      ...view,
      gauges,
      life: reduceLife(view.life, { at: view.at, type: 'phase.started', phase: 'request-drain' }),
    }
    const { headline, detail, trouble } = lifeStatusOf(draining, LIVE, view.at)
    const cut = spentOf(view, view.at)?.cuts.find(({ signal }) => signal === 'Cut.requests')?.atMs ?? 0
    expect(headline).toBe(`Shutting down: GET /hang and 50 more block the exit; cut in ${running(stopAt(view) + cut - view.at)}`)
    expect(detail).toMatch(/ 3 requests refused\.$/)
    expect(trouble).toBe('1 failed: pre-shutdown hook "leave"')
    // Also once it is over.
    expect(lifeStatusOf(journal.last, OVER, 0).trouble).toBe('1 failed: pre-shutdown hook "leave"')
    expect(lifeStatusOf(viewWhen('Serving'), LIVE, 0).trouble).toBe('')
  })

  test('says how it ended, that the server is gone, and that a report did not come', () => {
    const { headline, detail } = lifeStatusOf(journal.last, OVER, 0)
    expect(headline).toBe('Ended in order, but something failed, exit code 4')
    expect(detail).toMatch(/^Ended 1(\.\d+)?s after the stop request\. The server is gone; its final state and report stay here\.$/)
    expect(lifeStatusOf(journal.last, { kind: 'closed', source: 'recording' }, 0).detail).toMatch(/This is a recording\.$/)
    const lost = viewWhen('NotAcceptingNewRequest')
    expect(lifeStatusOf(lost, { kind: 'lost', attempts: 3 }, 0)).toMatchObject({
      shape: 'lost',
      headline: 'Connection lost without a report',
    })
    expect(lifeStatusOf(lost, { kind: 'closed', source: 'recording' }, 0)).toMatchObject({ shape: 'lost', headline: 'No end on record' })
    // Looking back shows what was then, whatever has become of the connection since.
    expect(lifeStatusOf(lost, OVER, lost.at, true).shape).toBe('stopping')
    expect(lifeStatusOf(EMPTY_VIEW, { kind: 'lost', attempts: 1 }, 0).headline).toBe('No connection')
  })

  test.each([
    [0, undefined, 'ok', 'Graceful: everything ended by itself, exit code 0'],
    [5, undefined, 'cut', 'Something was cut before it was done, or lost, exit code 5'],
    [5, 'deadline', 'cut', 'Cut by the deadline, exit code 5'],
    [1, 'second-signal', 'forced', 'Ended by force, exit code 1'],
    [3, undefined, 'failed', 'Could not start, exit code 3'],
    [99, undefined, 'failed', 'Not one of quiesce’s exit codes, exit code 99'],
  ] as const)('exit code %s, forced by %s: %s', (exitCode, forced, shape, headline) => {
    const why = forced && { at: 0, type: 'forced' as const, why: forced }
    const view = { ...journal.last, life: { ...journal.last.life, exitCode, forced: why } }
    expect(lifeStatusOf(view, OVER, 0)).toMatchObject({ shape, headline })
  })

  test('has the code that the process ended with, when it ended before its life', () => {
    const forced = { at: 0, type: 'forced', why: 'process-exit', exitCode: 9 } as const
    const view = { ...journal.last, life: { ...journal.last.life, exitCode: 1, forced } }
    expect(lifeStatusOf(view, OVER, 0).headline).toBe('Ended by force, exit code 9')
    const report = { ...(view.report as Report), exitCode: 1, forced: 'process-exit', forcedBy: { exitCode: 9 } } as const
    expect(outcomeOf({ ...view, report })[0]?.text).toMatch(/^9: the process ended before its server had/)
    expect(lineOf({ n: 1, at: 0, kind: 'fact', event: forced }, 0, new Map()).text).toBe(
      'ends by force, because the process ended before it (with exit code 9)',
    )
  })
})

describe('the timeline', () => {
  test('has every row from the beginning on, and none changes its place', () => {
    const rows = (view: View): string[] =>
      rowItemsOf(view).flatMap(({ kind, key }) => (kind === 'hook' || key === 'group Hooks' ? [] : [key]))
    const first = rows(journal.viewAt(0))
    expect(first.length).toBeGreaterThan(20)
    for (const position of entries.keys()) expect(rows(journal.viewAt(position))).toEqual(first)
  })

  test('has a phase of the user where it belongs: before those that wait for it', () => {
    const opening = entries[0] as Extract<JournalEntry, { kind: 'opening' }>
    const own = { name: 'flush-queue', half: 'stop', waitsFor: ['RequestsDrained'], fires: ['FlushQueueDone'] } as const
    const phases = opening.phases.map((phase) =>
      phase.name === 'destroy' ? { ...phase, waitsFor: [...phase.waitsFor, 'FlushQueueDone'] } : phase,
    )
    const view = journalOf([{ ...opening, phases: [...phases, own] }]).last
    const stop = rowItemsOf(view).filter(({ kind, name }) => kind === 'phase' && view.phases.get(name)?.half === 'stop')
    const names = stop.map(({ name }) => name)
    expect(names[names.indexOf('destroy') - 1]).toBe('flush-queue')
    // All others stand as in the wiring.
    const others = opening.phases.filter(({ half }) => half === 'stop').map(({ name }) => name)
    expect(names.filter((name) => name !== 'flush-queue')).toEqual(others)
  })

  test('puts every bar and mark inside of the axis, and tells outcomes in words', () => {
    const view = journal.last
    const span = spanOf(view, view.at, 'auto')
    const rows = rowsOf(view, view.at, span)
    for (const { bar, mark } of rows) {
      for (const place of [bar?.from, bar?.to, mark?.at]) if (place !== undefined) expect(place >= 0 && place <= 1).toBe(true)
    }
    const row = (name: string) => rows.find((candidate) => candidate.name === name)
    expect(row('shutdown-delay')).toMatchObject({ workStatus: 'ok', note: '1s', mark: { signal: 'AfterShutdownDelayDuration' } })
    expect(row('shutdown-delay')?.title).toBe('shutdown-delay: ok after 1s; fires AfterShutdownDelayDuration')
    expect(row('leave')).toMatchObject({ kind: 'hook', workStatus: 'failed' })
    expect(row('leave')?.title).toMatch(/^pre-shutdown hook leave: failed .*the registry is gone$/)
  })

  test('says what a phase waits for', () => {
    const view = viewWhen('ShutdownInitiated')
    const rows = rowsOf(view, view.at, spanOf(view, view.at, 'auto'))
    expect(rows.find(({ name }) => name === 'request-drain')?.title).toBe(
      'request-drain: waiting for NotAcceptingNewRequest and LastCallComplete; fires RequestsDrained',
    )
  })

  test('shows the last minute while it serves, the shutdown once it has begun, the budget or the whole life when asked', () => {
    const serving = viewWhen('Serving')
    expect(spanOf(serving, 3_600_000, 'auto')).toMatchObject({ from: 3_540_000, to: 3_600_000 })
    // Behind what has happened there is room for the names of signals.
    expect(spanOf(serving, 3_600_000, 'auto', 0.2)).toMatchObject({ from: 3_540_000, to: 3_620_000 })
    const stopping = viewWhen('ShutdownInitiated')
    const stop = stopAt(stopping)
    expect(spanOf(stopping, stop + 1_300, 'auto')).toEqual({ from: stop - 28, to: stop + 1_400, origin: stop })
    // The end of the axis stands still for a while: it grows in steps.
    expect(spanOf(stopping, stop + 1_390, 'auto').to).toBe(stop + 1_400)
    expect(spanOf(stopping, stop + 1_300, 'deadline').to).toBe(stop + 12_240)
    expect(spanOf(stopping, stop + 1_300, 'life').from).toBe(0)
  })

  test('has the cuts that the machine has chosen, and the deadline', () => {
    const view = viewWhen('NotAcceptingNewRequest')
    const spent = spentOf(view, view.at)
    // The hooks are over by then.
    expect(spent).toMatchObject({ deadlineMs: 12_000, nextCut: { signal: 'Cut.requests' } })
    expect(spentOf(inTheDelay(), inTheDelay().at)?.nextCut?.signal).toBe('Cut.hooks')
    expect(spent?.cuts.map(({ signal }) => signal)).toEqual([
      'Cut.hooks',
      'Cut.requests',
      'Cut.connections',
      'Cut.audit',
      'Cut.destroy',
      'Cut.flush',
    ])
    const lines = linesOf(view, view.at, spanOf(view, view.at, 'deadline'))
    expect(lines.map(({ text }) => text)).toEqual(['StopRequested', ...(spent?.cuts.map(({ signal }) => signal) ?? []), 'deadline'])
    expect(spentOf(viewWhen('Serving'), 0)).toBeUndefined()
  })

  test('gives every name a place of its own, on one side of its line or the other, or none', () => {
    const names = [0, 0.02, 0.03, 0.97, 0.98, 0.99].map((place) => ({ place, width: 0.1 }))
    const lanes = lanesOf(names, 2)
    const boxes = lanes.flatMap((lane, i) => {
      const place = names[i]?.place ?? 0
      return lane
        ? [{ lane: lane.lane, from: lane.side === 'after' ? place : place - 0.1, to: lane.side === 'after' ? place + 0.1 : place }]
        : []
    })
    expect(boxes).toHaveLength(4)
    for (const [i, one] of boxes.entries()) {
      expect(one.from >= 0 && one.to <= 1).toBe(true)
      for (const other of boxes.slice(i + 1)) expect(one.lane !== other.lane || one.to <= other.from || other.to <= one.from).toBe(true)
    }
  })

  test('has a name end beside the axis where there is room', () => {
    const last = [{ place: 1, width: 0.1 }]
    expect(lanesOf(last, 1)).toEqual([{ lane: 0, side: 'before' }])
    expect(lanesOf(last, 1, 1.1)).toEqual([{ lane: 0, side: 'after' }])
  })

  test('has the name of a signal behind the end of its bar, before its beginning, or nowhere', () => {
    const row = (from: number, to: number) => ({ bar: { from, to }, mark: { at: to, signal: 'Destroyed' } })
    expect(sideOf(row(0.1, 0.5), 0.2)).toEqual({ side: 'after', at: 0.5 })
    expect(sideOf(row(0.3, 0.9), 0.2)).toEqual({ side: 'before', at: 0.3 })
    expect(sideOf(row(0.1, 0.9), 0.2)).toBeUndefined()
    // With the room that the axis leaves there is always a place behind it.
    const view = journal.last
    const span = spanOf(view, view.at, 'auto', 0.2)
    for (const row of rowsOf(view, view.at, span)) if (row.mark) expect(sideOf(row, 0.2)?.side).toBe('after')
  })

  test('shows a part of itself, never less than can be told apart, and nothing from before the beginning', () => {
    const view = journal.last
    const span = { from: 1_000, to: 2_000, origin: 1_000 }
    expect(zoomed(span, 0.5, 0.25, view)).toEqual({ from: 1_250, to: 1_500, origin: 1_000 })
    expect(zoomed(span, 0.5, 0.5, view)).toEqual({ from: 1_499, to: 1_501, origin: 1_000 })
    expect(zoomed(span, -3, 0, view)).toEqual({ from: 0, to: 3_000, origin: 1_000 })
  })

  test('has round times on its axis, from the origin on', () => {
    const view = journal.last
    expect(ticksOf(view, { from: 900, to: 6_000, origin: 1_000 }, 6).map(({ text }) => text)).toEqual(['0', '1s', '2s', '3s', '4s', '5s'])
    expect(ticksOf(view, { from: 0, to: 90, origin: 0 }, 5).map(({ text }) => text)).toEqual(['0', '20ms', '40ms', '60ms', '80ms'])
    expect(ticksOf(view, { from: 0, to: 2_000, origin: 2_000 }, 3).map(({ text }) => text)).toEqual(['\u22122s', '\u22121s', '0'])
  })

  test('keeps the peaks of a load that has more measurements than the picture has points', () => {
    const gauge = entries.find((entry) => entry.kind === 'gauges') as Extract<JournalEntry, { kind: 'gauges' }>
    const many = Array.from({ length: 5_000 }, (_, at) => ({ ...gauge, at, requests: at === 3_333 ? 42 : 1 }))
    const series = seriesOf(many, 5_000, { from: 0, to: 5_000, origin: 0 }, 'requests', ({ requests }) => requests)
    expect(series.points.length).toBeLessThan(700)
    expect(series).toMatchObject({ now: 1, most: 42 })
  })
})

describe('the statechart', () => {
  /** As in the recorded life: no post-start hooks, no phases of a user. */
  const machine = composeLifecycle({ mode: 'refuse' })

  test('has every state that the journal says is active', () => {
    const values = entries.flatMap((entry) => (entry.kind === 'state' && entry.value !== undefined ? [entry] : []))
    const root = values.filter(({ actor }) => journal.last.actors.get(actor)?.parent === undefined)
    expect(root.length).toBeGreaterThan(5)
    for (const { value } of root) {
      for (const id of activeStates(machine.id, value)) expect(machine.getStateNodeById(id).type).toMatch(/atomic|final/)
    }
  })

  test('has every edge that the journal says was taken', () => {
    const known = new Set(chartOf(machine).edges.map(({ id }) => id))
    const root = [...journal.last.actors.values()].find(({ parent }) => parent === undefined)?.id
    const taken = entries.flatMap((entry) => (entry.kind === 'state' && entry.actor === root ? entry.taken.map(edgeKey) : []))
    expect(taken.length).toBeGreaterThan(20)
    expect(taken.filter((key) => !known.has(key))).toEqual([])
  })

  test('knows an edge that stays where it was by the same name', () => {
    const [internal] = chartOf(machine).edges.filter(({ kind }) => kind === 'internal')
    expect(internal).toBeDefined()
    expect(edgeKey({ from: internal?.from ?? '', on: internal?.event ?? '' })).toBe(internal?.id)
  })

  test('says of every state how its phase stands, also when the machine itself has ended', () => {
    const settled = settledStates(journal.last, machine.id)
    expect(settled).toContain('lifecycle.running.shutdown-delay.fired')
    for (const id of settled) expect(machine.getStateNodeById(id).id).toBe(id)
    expect(statusOfPhase(journal.last, 'lifecycle.running.pre-shutdown-hooks.fired')).toBe('failed')
    expect(statusOfPhase(journal.last, 'lifecycle.running.shutdown-delay.fired')).toBe('ok')
    // It has no work of its own, and its signal has fired.
    expect(statusOfPhase(journal.last, 'lifecycle.running.not-accepting.fired')).toBe('ok')
    const delay = inTheDelay()
    expect(statusOfPhase(delay, 'lifecycle.running.request-drain.waiting')).toBe('waiting')
    expect(statusOfPhase(delay, 'lifecycle.running.stop.living')).toBeUndefined()
    expect(workingPhases(delay)).toEqual(['notify-clients', 'shutdown-delay'])
    expect(workingPhases(delay)).not.toContain('request-drain')
    expect(workingPhases(journal.last)).toEqual([])
  })

  test('says in one line where a machine is', () => {
    expect(stateLine('draining')).toBe('draining')
    expect(stateLine({ running: { a: 'x', b: { c: 'y' } } })).toBe('running › a: x, b: c › y')
    expect(stateLine({ running: { a: 'x', b: 'x', c: 'x', d: 'x' } })).toBe('running › 4 regions')
    expect(regionLines({ running: { a: 'x', b: { c: 'y' } } })).toEqual([
      ['a', 'x'],
      ['b', 'c › y'],
    ])
    expect(activeStates('m', { a: { b: {} } })).toEqual(['m.a.b'])
  })
})

describe('the other panels', () => {
  test('machines stand below those who started them, and those who were cut off say so', () => {
    const view = viewWhen('NotAcceptingNewRequest')
    const [root] = machineTree(view)
    expect(root).toMatchObject({ name: 'lifecycle', kind: 'machine', status: 'active' })
    expect(root?.children.map(({ name }) => name)).toContain('pre-shutdown-hooks')
    expect(machineTree({ ...view, life: { ...view.life, exitCode: 1 } })[0]?.status).toBe('cut off')
  })

  test('a machine that is done stands as the state that it is done in', () => {
    const hooks = machineTree(journal.last)[0]?.children.find(({ name }) => name === 'pre-shutdown-hooks')
    expect(hooks).toMatchObject({ state: 'failed', status: 'done', workStatus: 'failed' })
    const statuses = hooks?.children.map(({ name, workStatus }) => [name, workStatus])
    expect(statuses).toEqual(expect.arrayContaining([['pre-shutdown-hook:leave', 'failed']]))
    const tell = machineTree(journal.last)[0]?.children.find(({ name }) => name === 'notify-clients')
    expect(tell).toMatchObject({ state: 'complete', status: 'done', workStatus: 'ok' })
  })

  test('a life took as long as its report says, however late that came', () => {
    const { last } = journal
    const late = { ...last, at: last.at + 5_000 }
    const took = outcomeOf(last).find(({ what }) => what === 'took')?.text
    expect(lifeStatusOf(late, OVER, late.at).detail).toContain(`Ended ${took} after the stop request`)
    expect(durationText(spentOf(late, late.at)?.elapsedMs ?? 0)).toBe(took)
  })

  test('what blocks the exit is named, and is older the longer it lasts', () => {
    const gauges = {
      ...(entries.find((entry) => entry.kind === 'gauges') as Extract<JournalEntry, { kind: 'gauges' }>),
      at: 7_000,
      requests: 2,
      watches: 1,
      holds: 0,
      handlers: 0,
      connections: {
        active: 3,
        idle: 1,
        notified: 2,
        byProtocol: [
          { protocol: 'HTTP/2', tls: 'TLSv1.3', open: 5 },
          { protocol: 'TLS handshake', tls: 'pending', open: 1 },
        ] as const,
      },
      blocking: {
        requests: [{ name: 'GET /slow', ageMs: 1_000, protocol: 'HTTP/2', tls: 'TLSv1.3' } as const],
        watches: [{ name: 'GET /watch', ageMs: 9_000 }],
        holds: [],
        handlers: [],
        hooks: [],
        connections: [{ name: '10.0.0.9:5511', ageMs: 50 }],
      },
    }
    const view = { ...viewWhen('NotAcceptingNewRequest'), gauges }
    const { headline, groups } = blockingOf(view, 8_500)
    expect(headline).toBe('Waiting for 2 requests, 1 watch and 1 idle socket')
    expect(groups.find(({ kind }) => kind === 'request')?.items).toEqual([
      { key: '0', name: 'GET /slow', note: expect.stringMatching(/^HTTP\/2 over TLSv1\.3, Cut\.requests in /) as string, age: '2.5s' },
    ])
    expect(groups.find(({ kind }) => kind === 'protocol')).toEqual({
      kind: 'protocol',
      title: '6 open sockets',
      count: 0,
      items: [
        { key: 'HTTP/2 TLSv1.3', name: 'HTTP/2', note: 'TLSv1.3', age: '5' },
        { key: 'TLS handshake pending', name: 'TLS handshake', note: 'under way', age: '1' },
      ],
    })
    // Recordings of earlier versions do not say it.
    const earlier = { ...gauges, connections: { active: 3, idle: 1, notified: 2 } }
    expect(blockingOf({ ...view, gauges: earlier }, 8_500).groups.some(({ kind }) => kind === 'protocol')).toBe(false)
    expect(lineOf({ ...gauges, n: 1 }, 0, journal.last.actors).text).toBe(
      '2 requests, 1 watch, 6 connections (2 notified; 5 HTTP/2 over TLSv1.3, 1 TLS handshake)',
    )
    expect(blockingOf({ ...view, life: { ...view.life, stop: undefined } }, 8_500).headline).toBe(
      'A stop now would wait for 2 requests, 1 watch and 1 idle socket',
    )
    expect(blockingOf(journal.last, 0).headline).toBe('Nothing was left behind')
    // A report that is shown, and a counter-example, have measured nothing: that is not the same as
    // nothing to wait for.
    expect(blockingOf({ ...view, gauges: undefined }, 8_500).headline).toBe('Phases under way')
  })

  test('what a phase waits for now stands above what comes later, and rows that are the same are one', () => {
    const stopping = viewWhen('ShutdownInitiated')
    const at = stopping.at
    const life = reduceLife(reduceLife(stopping.life, { at, type: 'phase.started', phase: 'pre-shutdown-hooks' }), {
      at,
      type: 'hook.started',
      kind: 'pre-shutdown',
      name: 'leave-17',
      limitMs: 3_000,
    })
    const watches = Array.from({ length: 50 }, (_, i) => ({ name: `GET /v1/events/${i}`, ageMs: 1_000 - i }))
    const slow = { name: 'GET /slow', ageMs: 1_000 }
    const deaf = { name: 'GET /deaf', ageMs: 900, streaming: true } as const
    const gauges = {
      ...(entries.find((entry) => entry.kind === 'gauges') as Extract<JournalEntry, { kind: 'gauges' }>),
      at,
      requests: 7,
      eventStreams: 1,
      watches: 5_000,
      blocking: {
        requests: [...Array.from({ length: 6 }, () => slow), deaf],
        watches,
        holds: [],
        handlers: [],
        hooks: [{ name: 'pre-shutdown hook "leave-17"', ageMs: 0 }],
        connections: [],
      },
    }
    const view = { ...stopping, life, gauges }
    const { headline, groups } = blockingOf(view, at)
    expect(headline).toBe('Waiting for 1 hook, then for 7 requests and 5000 watches')
    expect(groups.map(({ kind, title }) => [kind, title]).slice(0, 3)).toEqual([
      ['hook', '1 hook'],
      ['request', '7 requests, 1 of them event streams, which have the time of requests, not waited for yet'],
      ['watch', '5000 watches, not waited for yet'],
    ])
    const rows = (of: string) => groups.find(({ kind }) => kind === of)?.items.map(({ name, age, members }) => [name, age, members?.length])
    expect(rows('hook')).toEqual([['pre-shutdown hook "leave-17"', '0.0s', undefined]])
    expect(rows('request')).toEqual([
      ['GET /slow', '1.0s', 6],
      ['GET /deaf', '0.9s', undefined],
    ])
    // Of what is the same in all, nothing is left out.
    expect(rows('watch')).toEqual([['GET /v1/events/…', '1.0s', 50]])
    expect(groups.find(({ kind }) => kind === 'watch')?.items[0]?.members?.[49]?.name).toBe('GET /v1/events/49')
    // A drain that is under way turns the two around.
    const draining = [
      { at, type: 'hook.ended', kind: 'pre-shutdown', name: 'leave-17', outcome: 'ok', durationMs: 0 },
      { at, type: 'phase.ended', phase: 'pre-shutdown-hooks', outcome: 'ok' },
      { at, type: 'phase.started', phase: 'watch-drain' },
    ] as const
    const later = blockingOf({ ...view, life: draining.reduce(reduceLife, life), gauges: { ...gauges, requests: 0 } }, at)
    expect(later.groups.map(({ kind }) => kind).slice(0, 2)).toEqual(['watch', 'request'])
  })

  test('of idle sockets the title has the count of all, and not that of the fifty that are named', () => {
    const closing = viewWhen('NotAcceptingNewRequest')
    const connections = Array.from({ length: 50 }, (_, i) => ({ name: `127.0.0.1:${i}`, ageMs: i }))
    const measured = entries.find((entry) => entry.kind === 'gauges') as Extract<JournalEntry, { kind: 'gauges' }>
    const gauges = {
      ...measured,
      at: closing.at,
      connections: { ...measured.connections, blocking: 5_000 },
      blocking: { requests: [], watches: [], holds: [], handlers: [], hooks: [], connections },
    }
    const { groups } = blockingOf({ ...closing, gauges }, closing.at)
    expect(groups.find(({ kind }) => kind === 'connection')).toMatchObject({
      title: expect.stringMatching(/^5000 idle sockets/),
      count: 5_000,
    })
  })

  test('hooks that never ran are named, with the one that they waited for', () => {
    const report = journal.last.report as Report
    const hook = (name: string, outcome: 'ok' | 'cut' | 'skipped') => ({ kind: 'pre-shutdown', name, outcome, durationMs: 0 }) as const
    const hooks = [hook('first', 'ok'), hook('flush', 'cut'), hook('leave', 'skipped'), hook('say', 'skipped')]
    const ended = { ...journal.last, report: { ...report, exitCode: 5, hooks } } as const
    expect(blockingOf(ended, 0).headline).toBe('Left behind: 1 hook; 2 hooks never ran')
    expect(outcomeOf(ended)).toContainEqual({
      what: 'skipped',
      text: 'pre-shutdown hooks "leave" and "say" never ran: they waited for "flush", which was cut',
      tone: 'cut',
    })
    const life = hooks.reduce((known, { name, outcome }) => {
      return reduceLife(known, { at: 9_000, type: 'hook.ended', kind: 'pre-shutdown', name, outcome, durationMs: 0 })
    }, journal.last.life)
    const view = { ...journal.last, life }
    const rows = rowsOf(view, view.at, spanOf(view, view.at, 'auto'))
    const event = {
      at: 0,
      type: 'hook.ended',
      kind: 'pre-shutdown',
      name: 'say',
      outcome: 'skipped',
      durationMs: 0,
      waitedFor: ['leave'],
    } as const
    expect(lineOf({ n: 1, at: 0, kind: 'fact', event }, 0, new Map()).text).toBe('pre-shutdown hook never ran: it waited for leave')
    expect(rows.find(({ name }) => name === 'say')?.title).toBe('pre-shutdown hook say: skipped, waiting for flush')
  })

  test('what is left behind is not said to have ended in order, and has no socket beside it', () => {
    const report = { ...(journal.last.report as Report), hooks: [], watches: { before: 1, after: 1, cut: [{ name: 'GET /w', ageMs: 1 }] } }
    const connections = { ...report.connections, forced: 1, forcedNames: [{ name: '10.0.0.9:5511', ageMs: 1 }] }
    const ended = { ...journal.last, report: { ...report, connections } }
    expect(blockingOf(ended, 0).headline).toBe('Left behind: 1 watch')
    expect(lifeStatusOf(ended, OVER, 0).headline).toBe('Something failed; 1 watch outlived the grace and was broken off, exit code 4')
    const onlySockets = { ...ended, report: { ...report, connections, watches: { before: 0, after: 0, cut: [] } } }
    expect(blockingOf(onlySockets, 0).headline).toBe('Left behind: 1 socket')
  })

  test('while it serves: which checks are ready, what is registered, what a stop would take', () => {
    const setup: Extract<JournalEntry, { kind: 'setup' }> = {
      ...(entries.find((entry) => entry.kind === 'setup') as Extract<JournalEntry, { kind: 'setup' }>),
      readiness: {
        path: '/ready',
        checks: [{ name: 'ping', passed: true }, { name: 'db', passed: false, reason: 'refused' }, { name: 'cache' }],
      },
    }
    const view = { ...viewWhen('Serving'), setup }
    const group = (kind: string) => blockingOf(view, view.at).groups.find((candidate) => candidate.kind === kind)
    expect(group('check')?.title).toBe('/ready fails: db')
    expect(group('check')?.items.map(({ name, note, workStatus }) => [name, note, workStatus])).toEqual([
      ['ping', 'passes', 'ok'],
      ['db', 'refused', 'failed'],
      ['cache', 'not asked yet', 'waiting'],
    ])
    expect(lifeStatusOf(view, LIVE, view.at).detail).toMatch(/ open\. \/ready fails: db\.$/)
    expect(group('budget')?.title).toBe('A stop now would take at most 12s: 1s delay, then new connections are refused')
    expect(group('budget')?.items.map(({ name }) => name)).toEqual([
      'shutdown delay',
      ...plannedCuts(view).map(({ signal }) => signal),
      'deadline',
    ])
    expect(group('planned')?.items.map(({ name, note, age, workStatus }) => [name, note, age, workStatus])).toEqual([
      ['leave', 'pre-shutdown', '≤ 3.7s', 'waiting'],
      ['flush', 'pre-shutdown', '≤ 3.7s', 'waiting'],
    ])
    // Once it has begun, it is what is waited for that counts.
    expect(blockingOf({ ...viewWhen('ShutdownInitiated'), setup }, 0).groups.some(({ kind }) => kind === 'budget')).toBe(false)
  })

  test('a crash in the middle of the end takes time away, as it does from the machine', () => {
    const stopping = viewWhen('ShutdownInitiated')
    const setup = stopping.setup && { ...stopping.setup, crash: { ...stopping.setup.crash, deadlineMs: 2_000 } }
    const view = { ...stopping, setup }
    const crash = { n: 10_000, at: view.at + 100, kind: 'sent', to: 'x:0', event: { type: 'process.crashed' } } as const
    expect(spentOf(view, view.at)?.deadlineMs).toBe(12_000)
    expect(spentOf(reduce(view, crash), view.at)?.deadlineMs).toBe(crash.at - stopAt(view) + 2_000)
  })

  test('a phase under way says what ends it, its own limit or a cut, whichever comes first', () => {
    const view = inTheDelay()
    const phases = blockingOf(view, stopAt(view) + 500).groups.find(({ kind }) => kind === 'phase')
    expect(phases?.items.find(({ name }) => name === 'shutdown-delay')?.note).toBe('its limit in 0.5s')
  })

  test('the report is told in lines, and failures before there is one', () => {
    expect(outcomeOf(viewWhen('PreShutdownHooksStopped'))).toEqual([
      { what: 'failed', text: 'pre-shutdown hook "leave": the registry is gone', tone: 'bad' },
    ])
    const lines = outcomeOf(journal.last).map(({ what, text }) => `${what}: ${text}`)
    expect(lines).toContain('exit code: 4: ended in order, but something failed')
    expect(lines).toContain('stopped by: stop(): the test asks')
    expect(lines).toContain('requests: 0 to drain, 0 left')
    expect(lines).toContain('failed: pre-shutdown hook "leave": the registry is gone')
    // What a drain refuses is neither lost nor let in.
    const report = { ...(journal.last.report as Report), lastCall: { accepted: 4, answered: 0 }, rejections: { 'retry-after': 3 } }
    expect(outcomeOf({ ...journal.last, report })).toContainEqual({
      what: 'last call',
      text: '4 connections accepted, 0 requests let in; the others got the answer of a refusal',
      tone: 'plain',
    })
  })

  test('the report speaks as that of a terminal does', () => {
    const where = 'pre-shutdown hook "leave"'
    const errors = [{ where, error: { name: 'QuiesceError', message: `${where} did not end within 3s` } }]
    const report = { ...(journal.last.report as Report), errors }
    const ofTerminal = new Map(summary(report).map(({ label, text }) => [label, text]))
    const ofPage = new Map(outcomeOf({ ...journal.last, report }).map(({ what, text }) => [what, text]))
    for (const label of ['failed', 'connections']) expect(ofPage.get(label)).toBe(ofTerminal.get(label))
    expect(ofPage.get('failed')).toBe(`${where}: did not end within 3s`)
  })

  test('the report says what connections spoke, and when the last request came', () => {
    const report = journal.last.report as Report
    const cut = [{ name: 'GET /slow', ageMs: 2_000, protocol: 'HTTP/2', tls: 'TLSv1.3' }] as const
    const fates = { open: 3, notified: 2, idleUnnotified: 0, ended: 0, forced: 1 }
    const connections = {
      ...report.connections,
      lastRequestMs: 1_500,
      byProtocol: [{ protocol: 'HTTP/2', tls: 'TLSv1.3', ...fates }],
    } as const
    const lines = outcomeOf({ ...journal.last, report: { ...report, requests: { before: 1, after: 1, cut }, connections } })
    expect(lines.map(({ what, text }) => `${what}: ${text}`)).toEqual(
      expect.arrayContaining([
        'cut: GET /slow (HTTP/2 over TLSv1.3), 2s old',
        'by protocol: HTTP/2 over TLSv1.3: 3 open, 2 told to leave, 1 by force',
        'last request: 1.5s after the stop',
      ]),
    )
  })
})

describe('the event log', () => {
  const lines = () => entries.map((entry, position) => lineOf(entry, position, journal.last.actors))

  test('has a line for every entry that says who, and to whom', () => {
    for (const { who, text } of lines()) expect(who !== '' && text !== '').toBe(true)
    const messages = lines().filter(({ kind }) => kind === 'sent')
    expect(messages.map(({ who, to, text }) => `${who} → ${to}: ${text}`)).toContain(
      'pre-shutdown-hooks → lifecycle: done pre-shutdown-hooks',
    )
    expect(messages.map(({ who }) => who)).toContain('outside')
    // No generated ids where there is a name.
    expect(messages.filter(({ who, to }) => /^x:\d+$/.test(who) || /^x:\d+$/.test(to))).toEqual([])
  })

  test('is filtered by kind and by words, all of them, in any case', () => {
    const all = new Set(Object.keys(LOG_KINDS) as LogKind[])
    const found = (text: string, kinds: ReadonlySet<LogKind> = all) => lines().filter((line) => matches(line, { kinds, text }))
    expect(found('').length).toBe(entries.length)
    expect(found('', new Set()).length).toBe(0)
    const failed = { tone: 'bad', text: expect.stringContaining('the registry is gone') as string }
    expect(found('registry GONE hook')).toMatchObject([
      { who: 'leave', ...failed },
      { who: 'pre-shutdown-hooks', ...failed },
    ])
    expect(
      lines()
        .filter((line) => matches(line, LOG_FILTER))
        .some(({ kind }) => kind === 'gauges'),
    ).toBe(false)
  })
})

describe('going through time', () => {
  test('by entry and by signal, and no further than the ends', () => {
    expect(step(journal, FOLLOWING, -1).position).toBe(entries.length - 2)
    expect(step(journal, goTo(journal, 0), -1).position).toBe(0)
    expect(step(journal, goTo(journal, entries.length - 1), 1).position).toBe(entries.length - 1)
    const first = stepSignal(journal, goTo(journal, 0), 1)
    expect(entries[first.position ?? -1]).toMatchObject({ kind: 'fact', event: { type: 'signal', name: 'Start' } })
    expect(stepSignal(journal, first, -1).position).toBe(0)
    expect(stepSignal(journal, goTo(journal, entries.length - 1), 1).position).toBe(entries.length - 1)
    expect(goTo(new ReceivedJournal(), 5)).toBe(FOLLOWING)
  })

  test('plays in real time, passes over what idles, and stops at the end', () => {
    let cursor = play(journal, FOLLOWING)
    expect(cursor).toMatchObject({ position: 0, playing: true })
    let frames = 0
    for (; cursor.playing && frames < 10_000; frames++) {
      const next = advance(journal, cursor, 16, 1)
      expect(next.position ?? 0).toBeGreaterThanOrEqual(cursor.position ?? 0)
      cursor = next
    }
    expect(cursor).toMatchObject({ position: entries.length - 1, playing: false })
    // Five seconds of serving are passed over, the second of the delay is not.
    expect(frames * 16).toBeGreaterThan(1_000)
    expect(frames * 16).toBeLessThan(4_000)
    expect(advance(journal, goTo(journal, 3), 1_000, 1).position).toBe(3)
  })
})

test('numbers are as short as they can be read', () => {
  expect([0, 0.4, 430, 999.6, 1_028, 59_949, 125_000, 3_720_000].map(durationText)).toEqual([
    '0ms',
    '<1ms',
    '430ms',
    '1s',
    '1.028s',
    '59.949s',
    '2m5s',
    '1h2m0s',
  ])
  expect([-250, 0, 430, 59_949, 125_900].map(running)).toEqual(['−0.2s', '0.0s', '0.4s', '59.9s', '2m5s'])
  expect([0, -0.2, -250, 61_005, 3_725_250].map(offset)).toEqual(['+0.000s', '+0.000s', '−0.250s', '+1:01.005', '+1:02:05.250'])
  expect([count(1, 'watch'), count(2, 'watch'), count(0, 'request')]).toEqual(['1 watch', '2 watches', '0 requests'])
  expect([listText([]), listText(['a']), listText(['a', 'b', 'c'])]).toEqual(['', 'a', 'a, b and c'])
})

test('a counter-example counts steps, because no time passes in it, and nothing of a budget is spent', () => {
  const opening: JournalEntry = {
    n: 1,
    at: 0,
    kind: 'opening',
    format: 1,
    source: 'counter-example',
    title: 'destroyed under a live request',
    wallAtStart: '1970-01-01T00:00:00.000Z',
    phases: [{ name: 'destroy', half: 'stop', waitsFor: ['ConnectionsClosed'], fires: ['Destroyed'] }],
    deadlineMs: 25_000,
  }
  const fact = (n: number, event: Record<string, unknown>): JournalEntry =>
    ({ n, at: n, kind: 'fact', event: { at: n, ...event } }) as unknown as JournalEntry
  const example = journalOf([
    opening,
    fact(2, { type: 'signal', name: 'StopRequested', outcome: 'ok' }),
    fact(3, { type: 'phase.started', phase: 'destroy' }),
    fact(7, { type: 'phase.ended', phase: 'destroy', outcome: 'ok' }),
  ])
  const view = example.last
  expect(spentOf(view, view.at)).toBeUndefined()
  const span = spanOf(view, view.at, 'auto')
  expect(span.from).toBe(0)
  expect(rowsOf(view, view.at, span)[0]?.note).toBe('4 steps')
  expect(ticksOf(view, span, 5).map(({ text }) => text)).toEqual(['0', '2', '4', '6', '8', '10'].slice(0, ticksOf(view, span, 5).length))
  expect(lifeStatusOf(view, { kind: 'closed', source: 'recording' }, view.at)).toMatchObject({
    headline: 'Counter-example',
    detail: 'destroyed under a live request. It ends here.',
  })
})

test('the words of the page mean what the architecture says that they mean', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/architecture.md'), 'utf8')
  const rows = [...text.matchAll(/^\| ([\w -]+) \| (.*) \|$/gm)].map(([, word = '', meaning = '']) => [word, meaning] as const)
  const table = new Map(rows)
  for (const [word, meaning] of Object.entries(GLOSSARY)) expect([word, table.get(word)]).toEqual([word, meaning])
})
