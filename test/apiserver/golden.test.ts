import { describe, expect, test } from 'vitest'
import { differencesBetween } from './oracle/compare.ts'
import { type Difference, KNOWN_DIFFERENCES, KNOWN_EVENT_DIFFERENCES } from './oracle/differences.ts'
import { oracleServer } from './oracle/oracle-server.ts'
import { type Answer, type Exchange, type RecordedEvent, recordedGroups, titleOf } from './oracle/recorded.ts'

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

const lineOf = ({ stage, verb, uri, code }: RecordedEvent): string => `${verb} ${uri} ${stage} ${code}`

/** In any order, because requests are sent at once; without those of the recorder itself. */
function differingEvents(recorded: readonly RecordedEvent[], ours: readonly RecordedEvent[]): readonly string[] {
  const given = ours.map(lineOf)
  const missing = recorded.map(lineOf).filter((line) => {
    const at = given.indexOf(line)
    if (at >= 0) given.splice(at, 1)
    return at < 0
  })
  const isOfRecorder = (line: string) => /message=ready|\/healthz/.test(line)
  return [...missing.map((line) => `missing: ${line}`), ...given.map((line) => `not recorded: ${line}`)].filter(
    (line) => !isOfRecorder(line),
  )
}

/** Of a stream that the recorder has left: as many as it has seen. */
const linesOf = ({ answer: { partial, body = '' } }: Exchange): number | undefined => (partial ? body.split('\n').length - 1 : undefined)

describe.each(recordedGroups)('$name: $about', ({ name, settings, exchanges, auditEvents }) => {
  test('answers as the real server does, but for what is known', async () => {
    await using server = await oracleServer(settings)
    const judge = async (exchange: Exchange) => mistakes(exchange, await server.ask(exchange.request, linesOf(exchange)))
    const found: (readonly string[])[] = []
    // What is written is read by the requests behind it.
    if (settings.widgets) for (const exchange of exchanges) found.push(await judge(exchange))
    else found.push(...(await Promise.all(exchanges.map(judge))))
    const lines = found.flatMap((each, at) => each.map((line) => `${titleOf((exchanges[at] as Exchange).request)}: ${line}`))
    expect(lines).toEqual([])
    if (!auditEvents) return
    const events = differingEvents(auditEvents, await server.end())
    const known = KNOWN_EVENT_DIFFERENCES.filter(({ group }) => group === name)
    const none = known.filter(({ line }) => !events.some((event) => line.test(event)))
    expect([...events.filter((event) => !known.some(({ line }) => line.test(event))), ...none.map(({ why }) => `is none: ${why}`)]).toEqual(
      [],
    )
  })
})

test('every known difference is one', () => {
  const all = recordedGroups.flatMap(({ exchanges }) => exchanges)
  expect(KNOWN_DIFFERENCES.filter(({ where }) => !all.some(where)).map(({ why }) => why)).toEqual([])
})
