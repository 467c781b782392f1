import { afterEach, describe, expect, test, vi } from 'vitest'
import { printReport } from '#src/report/print-report.ts'
import { renderReport } from '#src/report/render-report.ts'
import { badLife, reportOf } from './lives.ts'

const report = reportOf(badLife, 1)

function streamOf(about: { readonly isTTY?: boolean; readonly columns?: number } = {}) {
  const written: string[] = []
  return { ...about, write: (text: string) => written.push(text), written }
}

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe('a report is printed', () => {
  test('on standard error, when nothing else is said', () => {
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    printReport(report, { columns: 90, color: false })
    expect(write.mock.calls).toEqual([[renderReport(report, { columns: 90 })]])
  })

  test('as wide as the terminal, and in colour', () => {
    vi.stubEnv('TERM', 'xterm')
    vi.stubEnv('NO_COLOR', '')
    const stream = streamOf({ isTTY: true, columns: 80 })
    printReport(report, { stream })
    expect(stream.written).toEqual([renderReport(report, { columns: 80, color: true })])
  })

  test.each([
    ['NO_COLOR', '1'],
    ['TERM', 'dumb'],
  ])('without colour on a terminal with %s=%s', (name, value) => {
    vi.stubEnv(name, value)
    const stream = streamOf({ isTTY: true, columns: 80 })
    printReport(report, { stream })
    expect(stream.written).toEqual([renderReport(report, { columns: 80 })])
  })

  test('without colour and as wide as a page where there is no terminal, or one that knows no width', () => {
    for (const stream of [streamOf(), streamOf({ columns: 0 })]) {
      printReport(report, { stream })
      expect(stream.written).toEqual([renderReport(report)])
    }
  })

  test('as it was told to be', () => {
    const stream = streamOf({ columns: 80 })
    printReport(report, { stream, columns: 200, color: true })
    expect(stream.written).toEqual([renderReport(report, { columns: 200, color: true })])
  })
})
