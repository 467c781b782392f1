// The animated end at the top of the README. Fails when it is not the same every time, when
// something is lost in it, and when it cannot be played where no script may run.
import { beforeAll, describe, expect, test } from 'vitest'
import { drainSvg } from '../../diagrams/drain/picture.mjs'
import { type Recording, recordDrain } from '../../diagrams/drain/record.mjs'
import { textsOf } from './svg-reading.ts'

let recording: Recording
beforeAll(async () => {
  recording = await recordDrain()
})

describe('the recorded end', () => {
  test('is that of a server under load, and loses nothing', () => {
    const { entries, ledger } = recording
    const report = entries.flatMap((entry) => (entry.kind === 'report' ? [entry.report] : []))[0]
    expect(report).toMatchObject({ exitCode: 0, requests: { after: 0, cut: [] }, watches: { before: 3, after: 0, cut: [] } })
    expect(report?.requests.before).toBeGreaterThan(2)
    const last = ledger.at(-1)
    expect(last?.asked).toBeGreaterThan(100)
    expect(last).toMatchObject({ answered: last?.asked, lost: 0 })
  })

  test('is drawn the same every time', async () => {
    expect(drainSvg(await recordDrain())).toBe(drainSvg(recording))
  })
})

describe('its picture', () => {
  test('says what has come of it without being played', () => {
    const svg = drainSvg(recording)
    const texts = textsOf(svg).map(({ text }) => text)
    expect(texts).toEqual(expect.arrayContaining(['exit code 0', expect.stringMatching(/^0 of \d+ requests lost$/), 'SIGTERM', 'Ended']))
    expect(svg).not.toMatch(/<script|<animate|href=|url\(|@import/)
  })

  test('says so when something was lost', () => {
    const { ledger } = recording
    const texts = textsOf(drainSvg({ ...recording, ledger: ledger.map((line) => ({ ...line, lost: 2 })) })).map(({ text }) => text)
    expect(texts).toEqual(expect.arrayContaining(['SIGTERM, and 2 requests are lost', expect.stringMatching(/^2 of \d+ requests lost$/)]))
  })
})
