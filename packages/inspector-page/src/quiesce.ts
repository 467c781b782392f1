/**
 * The parts of quiesce itself that the page takes: what a journal consists of, and how it speaks of
 * a life everywhere.
 */

export { andMore } from '../../../src/base/and-more.ts'
export type { ErrorRecord, HookKind, LifecycleEvent, PhaseOutcome, Straggler } from '../../../src/base/events.ts'
export { formatDuration, formatRunning } from '../../../src/base/format-duration.ts'
export { fateSums, fateWords, nameWithProtocol, openWords, protocolLabel } from '../../../src/base/protocol.ts'
export { withoutName } from '../../../src/base/without-name.ts'
export { type Chart, type ChartState, statesOf } from '../../../src/diagram/drawing/chart.ts'
export { drawnSignals, lifecyclePicture } from '../../../src/diagram/drawing/lifecycle-picture.ts'
export { bareSvg } from '../../../src/diagram/drawing/svg.ts'
export type { JournalEntry, PhaseDescription, Session, StateEntry } from '../../../src/inspector/protocol.ts'
export { exitCodeMeaning } from '../../../src/machines/exit-codes.ts'
export { describeReason } from '../../../src/report/describe-reason.ts'
export { endMeaning, exitCodeSeen } from '../../../src/report/end-meaning.ts'
export { type Blocker, blockersOf, boundOfPhase, headlineOf, instantsOf, nextCutOf } from '../../../src/report/ending.ts'
export { lastCallWords, letInWords } from '../../../src/report/last-call-words.ts'
export type { Report } from '../../../src/report/report.ts'
export { skippedHooks, skippedWords } from '../../../src/report/skipped-hooks.ts'
export { tookMs } from '../../../src/report/took.ts'
export {
  crashedAt,
  failureIn,
  type HookView,
  hookKey,
  type LifeView,
  NOTHING_KNOWN,
  reduceLife,
  withValue,
} from '../../../src/report/view.ts'
