// Fails when: the report is written before the logs are flushed, a flush that fails or hangs costs
// the report, or a cut does not write it in one step.
import { describe, expect, test } from 'vitest'
import { reportMachine } from '#src/machines/phases/report.ts'
import { never, phaseScene, rejects, resolves } from '../support/fake-effects.ts'
import { expectOnly } from '../support/illegal-events.ts'

describe('report', () => {
  test('flushes, then writes', async () => {
    const report = await phaseScene(reportMachine, { flushLogs: resolves(20), writeReport: resolves(5) })
    expect(report.effects.called).toEqual(['flushLogs'])
    await report.clock.advance(20)
    expect(report.effects.called).toEqual(['flushLogs', 'writeReport'])
    await report.clock.advance(5)
    expect([report.endedAt, report.output]).toEqual([25, { outcome: 'ok' }])
  })

  test('writes also when the flush fails', async () => {
    const report = await phaseScene(reportMachine, { flushLogs: rejects('EPIPE') })
    expect(report.effects.called).toEqual(['flushLogs', 'writeReport'])
    expect(report.output).toEqual({ outcome: 'ok' })
  })

  test('fails with the error of the writing', async () => {
    const report = await phaseScene(reportMachine, { writeReport: rejects('ENOSPC') })
    expect(report.output).toMatchObject({ outcome: 'failed', error: { message: 'ENOSPC' } })
  })

  test.each(['flushLogs', 'writeReport'])('cut while %s hangs, it writes at once', async (hanging) => {
    const report = await phaseScene(reportMachine, { [hanging]: never })
    await report.cut()
    expect(report.effects.called.at(-1)).toBe('writeReportNow')
    expect(report.effects.left).toEqual([hanging])
    expect(report.output).toEqual({ outcome: 'cut' })
  })

  test('a cut whose writing fails is a cut with that error', async () => {
    const report = await phaseScene(reportMachine, { flushLogs: never, writeReportNow: rejects('ENOSPC') })
    await report.cut()
    expect(report.output).toMatchObject({ outcome: 'cut', error: { message: 'ENOSPC' } })
  })

  test('is moved by nothing else', async () => {
    const report = await phaseScene(reportMachine, { flushLogs: resolves(10), writeReport: never, writeReportNow: never })
    await expectOnly(report, 'cut')
    await report.clock.advance(10)
    expect(report.state).toBe('writing')
    await expectOnly(report, 'cut')
    await report.cut()
    await expectOnly(report)
    expect(report.state).toBe('cutting')
  })
})
