import { fromPromise, setup } from 'xstate'
import { CUT_STATE, type CutEvent, FAILED_STATE, OK, outputOfFinalState, type PhaseOutput } from './phase.ts'

/**
 * Flushes the logs, then seals and writes the report, in this order so that a flush that was cut is
 * in the report. Cut, it writes the report in one synchronous step: a run never ends without its
 * report while there is any way to write it.
 */
export const reportMachine = setup({
  types: {} as { context: object; events: CutEvent; output: PhaseOutput },
  actors: {
    writeReport: fromPromise<void>(() => Promise.resolve()),
    flushLogs: fromPromise<void>(() => Promise.resolve()),
    writeReportNow: fromPromise<void>(() => Promise.resolve()),
  },
}).createMachine({
  id: 'report',
  context: {},
  initial: 'flushing',
  states: {
    flushing: {
      invoke: { id: 'flush-logs', src: 'flushLogs', onDone: 'writing', onError: 'writing' },
      on: { cut: 'cutting' },
    },
    writing: {
      invoke: { id: 'write-report', src: 'writeReport', onDone: 'written', onError: 'failed' },
      on: { cut: 'cutting' },
    },
    // No instant of the budget comes after Cut.flush: what ends a writing that hangs is the end by
    // force.
    cutting: { invoke: { id: 'write-report-now', src: 'writeReportNow', onDone: 'cut', onError: 'cut' } },
    written: { type: 'final', output: OK },
    ...CUT_STATE,
    ...FAILED_STATE,
  },
  output: outputOfFinalState,
})
