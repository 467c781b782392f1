import { describe, expect, test } from 'vitest'
import { differencesBetween } from './oracle/compare.ts'
import { type Difference, KNOWN_DIFFERENCES } from './oracle/differences.ts'
import { oracleServer } from './oracle/oracle-server.ts'
import { type Answer, type Exchange, recordedGroups, titleOf } from './oracle/recorded.ts'

/** What ours has to be, with the known differences, or with some of them. */
const expectedOf = (exchange: Exchange, known: readonly Difference[]): Answer =>
  known.reduce((answer, { change = () => ({}) }) => change(answer), exchange.answer)

/** One line for each difference that is not known, and for each known one that is none. */
function mistakes(exchange: Exchange, ours: Answer): readonly string[] {
  const known = KNOWN_DIFFERENCES.filter(({ where }) => where(exchange))
  const unlike = (differences: readonly Difference[]) =>
    differencesBetween(expectedOf(exchange, differences), ours, exchange.request.method)
  const none = known.filter((difference) => unlike(known.filter((other) => other !== difference)).length === 0)
  return [...unlike(known), ...none.map(({ why }) => `is listed as different, and is not: ${why}`)]
}

describe.each(recordedGroups)('$name: $about', ({ settings, exchanges }) => {
  test('answers as the real server does, but for what is known', async () => {
    await using server = await oracleServer(settings)
    const asked = exchanges.map(async (exchange) => mistakes(exchange, await server.ask(exchange.request)))
    const found = await Promise.all(asked)
    const lines = found.flatMap((each, at) => each.map((line) => `${titleOf((exchanges[at] as Exchange).request)}: ${line}`))
    expect(lines).toEqual([])
  })
})

test('every known difference is one', () => {
  const all = recordedGroups.flatMap(({ exchanges }) => exchanges)
  expect(KNOWN_DIFFERENCES.filter(({ where }) => !all.some(where)).map(({ why }) => why)).toEqual([])
})
