// Fails when: an answer of user code that comes after its time was over changes anything but what
// the report says of late answers. It found: a mux-complete promise that rejects after
// StopRequested cost exit code 4; a handler that rejects after its cut was no late answer.
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { describe, expect, test } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import type { LifecycleEvent } from '#src/base/events.ts'
import type { Life } from '#src/lifecycle/life.ts'
import type { LifecycleOptions } from '#src/options/options.ts'
import type { Report, ReportedError } from '#src/report/report.ts'
import { type TestLife, testLife } from '#src/testing/test-life.ts'

/** A piece of user code that does not answer in its time. */
interface Piece {
  /** What it answers, and that it was called. */
  readonly answer: Promise<void>
  readonly called: () => void
}

interface Case {
  /** The signal by which its time is over. */
  readonly overBy: string
  /** As the report names its late answers; undefined for what no report speaks of. */
  readonly what?: string
  /** With this signal, and later, it was left, which is no late answer. */
  readonly leftAt?: string
  /** It keeps the life from serving. */
  readonly holdsUpStart?: true
  readonly options?: (piece: Piece) => LifecycleOptions
  readonly setUp?: (life: Life, piece: Piece) => void
  readonly handle?: (piece: Piece) => Promise<void>
  readonly whileServing?: (test: TestLife, piece: Piece) => Promise<void> | void
}

const hangs =
  ({ called, answer }: Piece) =>
  (): Promise<void> => {
    called()
    return answer
  }

const CASES: Readonly<Record<string, Case>> = {
  'post-start hook': {
    overBy: 'AdminClosed',
    what: 'post-start hook "warm"',
    setUp: (life, piece) => life.addPostStartHook('warm', hangs(piece)),
  },
  'pre-shutdown hook': {
    overBy: 'PreShutdownHooksStopped',
    what: 'pre-shutdown hook "leave"',
    setUp: (life, piece) => life.addPreShutdownHook('leave', hangs(piece)),
  },
  'destroy function': {
    overBy: 'Destroyed',
    what: 'destroy hook "pool"',
    setUp: (life, piece) => life.addDestroy('pool', hangs(piece)),
  },
  'phase of the user': {
    overBy: 'QueueDone',
    what: 'phase hook "queue"',
    setUp: (life, piece) => life.addPhase('queue', hangs(piece), { after: ['RequestsDrained'] }),
  },
  'run of the audit backend': {
    overBy: 'StopRequested',
    what: 'audit backend run',
    holdsUpStart: true,
    options: (piece) => ({ audit: { run: hangs(piece), shutdown: () => {} } }),
  },
  'shutdown of the audit backend': {
    overBy: 'AuditStopped',
    what: 'audit backend shutdown',
    options: (piece) => ({ audit: { run: () => {}, shutdown: hangs(piece) } }),
  },
  'last flush of the log': {
    overBy: 'ReportWritten',
    options: (piece) => ({ logger: { debug() {}, info() {}, warn() {}, error() {}, flush: hangs(piece) } }),
  },
  'mux-complete promise': {
    overBy: 'StopRequested',
    what: 'mux-complete signal routes',
    leftAt: 'AdminClosed',
    setUp: (life, piece) => {
      piece.called()
      life.addMuxCompleteSignal('routes', piece.answer)
    },
  },
  'health check': {
    overBy: 'StopRequested',
    setUp: (life, piece) => life.addReadyzCheck('db', hangs(piece)),
    whileServing: async (t) => {
      const connection = await t.connect()
      const probe = connection.request('/readyz')
      await t.clock.advance('1s')
      expect(await probe.response).toMatchObject({ status: 500, body: expect.stringContaining('[-]db failed') })
      connection.destroy()
    },
  },
  hold: {
    overBy: 'RequestsDrained',
    whileServing: ({ life }, piece) => void life.hold('job', hangs(piece)).catch(() => {}),
  },
  handler: {
    overBy: 'HandlersDone',
    what: 'handler GET /',
    handle: (piece) => hangs(piece)(),
    whileServing: async (t) => {
      const connection = await t.connect()
      connection.request('/').response.catch(() => {})
      await t.clock.advance(0)
    },
  },
}

type Answer = 'resolved' | 'rejected'
const FAILURE = new Error('too late')
const AFTER_THE_END = 'the end'
/**
 * From here on nothing is reported any more: the report is sealed in the step in which the life
 * ends.
 */
const SEALED: readonly string[] = ['ReportWritten', 'Ended', AFTER_THE_END]

interface Ended {
  readonly report: Report
  readonly exitCode: unknown
  readonly events: readonly LifecycleEvent[]
  readonly signals: readonly string[]
}

const MODES = ['refuse', 'retry-after'] as const
const SET_UPS = [true, false].flatMap((attached) => MODES.map((mode) => ({ attached, mode })))
type SetUp = (typeof SET_UPS)[number]

/** One life; without an instant, the piece never answers. */
async function live({ holdsUpStart, options, setUp, handle, whileServing }: Case, made: SetUp, at?: string, how?: Answer): Promise<Ended> {
  const answer = deferred<void>()
  const called = deferred<void>()
  const settle = (): void => (how === 'resolved' ? answer.resolve() : answer.reject(FAILURE))
  const piece: Piece = { answer: answer.promise, called: called.resolve }
  answer.promise.catch(() => {})
  const listener: RequestListener = async (_request, response) => (handle ? handle(piece) : void response.end())
  const common: LifecycleOptions = {
    deadline: '12s',
    shutdownDelay: '1s',
    hookTimeout: '1500ms',
    whileDraining: made.mode,
    health: true,
    logger: false,
    ...options?.(piece),
  }
  const t = await testLife<Life>(
    ({ createServer, attachLifecycle }) => {
      const server = made.attached ? createHttpServer(listener) : undefined
      const life = server ? attachLifecycle(server, common) : createServer({ listener }, common)
      setUp?.(life, piece)
      life.events$.subscribe((event) => {
        if (event.type === 'signal' && event.name === at) settle()
      })
      server?.listen(0)
      return life
    },
    { run: false },
  )
  const running = t.run()
  if (holdsUpStart) await called.promise
  else await running
  await whileServing?.(t, piece)
  const report = await t.stop('the test asks')
  await called.promise
  const atEnd = JSON.stringify(report)
  if (at === AFTER_THE_END) settle()
  await t.clock.advance('1s')
  expect(JSON.stringify(t.report)).toBe(atEnd)
  return { report, exitCode: t.process.exitCode, events: t.events, signals: t.signals }
}

/** All that is left of a life when late answers are taken out of it. */
function withoutLate({ report, events, exitCode }: Ended) {
  const { lateAnswers, errors, ...rest } = report
  const isLate = ({ where, error }: ReportedError): boolean => lateAnswers.some((answer) => where === answer.what && error === answer.error)
  return {
    exitCode,
    rest,
    errors: errors.filter((one) => !isLate(one)),
    events: events.filter(({ type }) => type !== 'late' && type !== 'mux-signal'),
  }
}

/**
 * When the piece answers: at first each way, later each way by turns with the other set-ups, which
 * costs a quarter.
 */
function* answers(setUp: SetUp, signals: readonly string[], { overBy }: Case): Generator<{ readonly at: string; readonly how: Answer }> {
  const later = [...signals.slice(signals.indexOf(overBy)), AFTER_THE_END]
  let turn = SET_UPS.indexOf(setUp)
  for (const [index, at] of later.entries())
    for (const how of ['resolved', 'rejected'] as const) if (index === 0 || turn++ % SET_UPS.length === 0) yield { at, how }
}

describe.each(Object.entries(CASES))('%s', (_, one) => {
  test.each(SET_UPS)(
    'answers too late ($mode, attached: $attached), at any signal and after the end, and nothing comes of it',
    async (setUp) => {
      const never = await live(one, setUp)
      expect(never.report.lateAnswers).toEqual([])
      expect(never.signals).toContain(one.overBy)
      for (const { at, how } of answers(setUp, never.signals, one)) {
        const late = await live(one, setUp, at, how)
        expect(withoutLate(late), `${how} at ${at}`).toEqual(withoutLate(never))
        const isReported = one.what !== undefined && at !== one.leftAt && !SEALED.includes(at)
        const said = late.report.lateAnswers.map(({ what, answer, error }) => ({ what, answer, why: error?.message }))
        const why = how === 'rejected' ? expect.stringContaining(FAILURE.message) : undefined
        expect(said, `${how} at ${at}`).toEqual(isReported ? [{ what: one.what, answer: how, why }] : [])
      }
    },
  )
})
