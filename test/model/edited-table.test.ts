// Fails when: a row of the wiring table is changed by mistake, in place, and `quiesce check` still
// says that everything holds.
import { describe, expect, test } from 'vitest'
import { createServer, type Life } from '#src/index.ts'
import { type Mode, type PhaseRow, WIRING, type Wiring } from '#src/machines/wiring.ts'
import { exploreLifecycle, invariantsOf, planOf } from '#src/model/life/lifecycle-model.ts'
import { type Table, withRows } from '../../scripts/mutation/edited-table.mjs'

const TABLE: Wiring = WIRING
const nothing = (): void => {}

/** As `quiesce check` without `--config`. */
const bare = (): Life => createServer({ listener: nothing }, { logger: false })

function withHook(): Life {
  const server = bare()
  server.addPostStartHook('warm', nothing)
  return server
}

interface Mistake {
  readonly says: string
  readonly rows: Readonly<Record<string, Partial<PhaseRow>>>
  readonly mode?: Mode
  readonly life?: () => Life
  /** One that does not hold. */
  readonly violates: string
}

const MISTAKES: readonly Mistake[] = [
  {
    says: 'handlers are waited for only after connections',
    rows: { handlers: { after: ['ConnectionsClosed'] } },
    violates: 'order/HandlersDone',
  },
  {
    says: 'the report is written before the admin listener closes',
    rows: { report: { after: ['Destroyed', 'ClientsNotified'] } },
    violates: 'signals/complete',
  },
  {
    says: 'pre-shutdown hooks begin only after the delay',
    rows: { 'pre-shutdown-hooks': { after: ['AfterShutdownDelayDuration'] } },
    violates: 'order/PreShutdownHooksStopped',
  },
  {
    says: 'the platform is told only once /readyz has passed',
    rows: { announce: { after: ['HasBeenReady'] } },
    violates: 'order/Announced',
  },
  {
    says: 'the listener is closed only when the watches are gone (refuse)',
    rows: { 'close-listener': { after: ['WatchesDrained'] } },
    violates: 'order/HTTPServerStoppedListening',
  },
  {
    says: 'the listener is closed before the requests are drained (retry-after)',
    mode: 'retry-after',
    rows: { 'close-listener-after-drain': { after: ['NotAcceptingNewRequest'] } },
    violates: 'order/HTTPServerStoppedListening',
  },
  {
    says: 'watches are told only after requests are drained',
    rows: { 'watch-drain': { after: ['RequestsDrained'] } },
    violates: 'order/WatchesDrained',
  },
  {
    says: 'pre-shutdown hooks run although it never served',
    rows: { 'pre-shutdown-hooks': { unless: undefined } as never },
    violates: 'order/PreShutdownHooksStopped',
  },
  {
    says: 'post-start hooks are aborted when the stop is requested',
    life: withHook,
    rows: { 'post-start-hooks': { until: { refuse: 'ShutdownInitiated', 'retry-after': 'ShutdownInitiated' } } },
    violates: 'work/post-start-signals',
  },
  {
    says: 'the audit backend is shut down as soon as the drain begins',
    rows: { 'audit-shutdown': { after: ['NotAcceptingNewRequest'] } },
    violates: 'order/AuditStopped',
  },
  {
    says: 'handlers are cut with the requests',
    rows: { handlers: { cut: 'Cut.requests' } },
    violates: 'budget/own-cut',
  },
  {
    says: 'a listener that cannot be bound is only logged',
    rows: { bind: { onFailure: 'log' } },
    violates: 'exit-code/earned',
  },
]

/** What the property finds that the mistake violates, as the command would. */
function foundIn({ rows, mode = 'refuse', life = bare, violates }: Mistake): string | undefined {
  const edited = Object.fromEntries(Object.entries(rows).map(([phase, change]) => [phase, { ...TABLE[phase], ...change } as PhaseRow]))
  return withRows(TABLE as Table, edited, () => {
    const plan = planOf(life(), mode)
    const exploration = exploreLifecycle(plan, { statesMax: 100_000 })
    return invariantsOf(plan)
      .find(({ id }) => id === violates)
      ?.violation(exploration)?.finding
  })
}

describe('the wiring table, edited in place', () => {
  test.each(MISTAKES)('$says: is caught', (mistake) => {
    const before = JSON.stringify(TABLE)
    expect(foundIn(mistake)).toEqual(expect.any(String))
    expect(JSON.stringify(TABLE)).toBe(before)
  })

  test('a cycle is refused', () => {
    expect(() => foundIn({ says: 'a cycle', rows: { 'not-accepting': { after: ['Destroyed'] } }, violates: '' })).toThrow(
      expect.objectContaining({ code: 'ERR_CYCLE' }),
    )
  })
})
