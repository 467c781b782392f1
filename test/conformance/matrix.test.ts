// Every kind of connection in every state that it can be in when a life is stopped, in both modes,
// on servers of the user's own and created ones. What its client and the report say then has to be
// what docs/connections.md says. Fails when: one is told too late or not at all, is lost, cut or
// counted otherwise, is not named, costs another exit code, or outlives its limit; or when a place
// of the matrix has no row, or a row no act.
import { describe, expect, test } from 'vitest'
import type { Report } from '#src/report/report.ts'
import { ACTS, type Scene } from './cases.ts'
import { LIMITS, type Served, serve } from './places.ts'
import { KINDS, MODES, type Place, parse, ROWS, type Row, rowsOf, STATES, TRANSPORTS } from './table.ts'

const PLACES: readonly Place[] = TRANSPORTS.flatMap((over) => MODES.flatMap((mode) => KINDS.map((kind) => ({ over, mode, kind }))))

const FATES = ['notified', 'idleUnnotified', 'ended', 'forced'] as const

/** Milliseconds of virtual time from the stop to the report, by the name of the limit. */
const OVER_BY: Readonly<Record<string, readonly [number, number]>> = {
  'last call': [0, 2 * LIMITS.lastCall],
  '1 s': [0, 2 * LIMITS.firstHead],
  'watch grace': [LIMITS.watchGrace, LIMITS.watchGrace + LIMITS.firstHead / 2],
  deadline: [LIMITS.deadline / 2, LIMITS.deadline],
}

/** The limit, if it was kept, or else how long it has taken. */
function limitOf({ endedAt, stopRequestedAt }: Report, limit: string): string {
  const ms = Date.parse(endedAt) - Date.parse(stopRequestedAt as string)
  const [least, most] = OVER_BY[limit] ?? [0, 0]
  return ms >= least && ms <= most ? limit : `${ms} ms`
}

/** Of the one connection that there was. */
function fateOf({ connections }: Report): string {
  const counted = FATES.filter((fate) => connections[fate] > 0)
  return counted.map((fate) => (connections[fate] === 1 ? fate : `${connections[fate]} ${fate}`)).join(' ')
}

function namedIn({ requests, watches, connections, warnings }: Report): string {
  const places = {
    requests: requests.cut,
    watches: watches.cut,
    connections: connections.forcedNames,
    warnings: warnings.filter(({ message }) => message.startsWith('connections')),
  }
  const named = Object.entries(places).flatMap(([place, all]) => (all.length > 0 ? [place] : []))
  return named.join(', ') || '-'
}

/** Moves virtual time on until it has happened. */
async function pass({ t }: Served, hasHappened: () => boolean): Promise<void> {
  for (let ms = 0; !hasHappened(); ms += 10) {
    if (ms > 2 * LIMITS.deadline) throw new Error('time has passed, and nothing has happened')
    await t.clock.advance(10)
  }
}

async function stop(served: Served, { later }: Scene): Promise<Report> {
  const { t } = served
  let report: Report | undefined
  void t.life.stop().then((sealed) => (report = sealed))
  if (later) {
    await pass(served, () => t.hasFired(later.at))
    await later.happens()
  }
  await pass(served, () => report !== undefined)
  return report as unknown as Report
}

/** Acts a row out, and says what happened in the words of its table. */
async function happened(place: Place, { when, outcome }: Row): Promise<string> {
  const act = ACTS[when as string]
  if (!act) throw new Error('no such act')
  const served = await serve(place)
  const scene = await act(served)
  const report = await stop(served, scene)
  const fate = fateOf(report)
  const [saw, ended] = await Promise.all([scene.witness.saw(), scene.witness.ended()])
  const end = fate === 'forced' ? 'cut' : ended === 'ended' ? 'closed' : ended
  const [, , limit = ''] = outcome.split(' | ')
  return [[...saw, end].join(', '), fate, limitOf(report, limit), namedIn(report), report.exitCode].join(' | ')
}

const lineOf = ({ state, when }: Row, outcome: string): string => `${state}: ${when} | ${outcome}`

describe('docs/connections.md', () => {
  test('has a row for every state at every place, and none twice', () => {
    for (const place of PLACES) {
      const rows = rowsOf(place)
      expect(new Set(rows.map(({ state }) => state)), JSON.stringify(place)).toEqual(new Set(STATES))
      const cases = rows.map((row) => lineOf(row, ''))
      expect(new Set(cases).size, cases.join('\n')).toBe(cases.length)
      for (const state of STATES) {
        const applying = rows.filter((row) => row.state === state)
        expect(applying.length === 1 || applying.every(({ when }) => when !== undefined), `${place.over}: ${state}`).toBe(true)
      }
    }
  })

  test('has a row for every act', () => {
    const used = ROWS.flatMap(({ when }) => when ?? [])
    expect(new Set(used)).toEqual(new Set(Object.keys(ACTS)))
  })

  test('a row that names a transport that there is not is seen', () => {
    expect(() => parse('## Idle\n| asked | HTTP/3 | both | 200 |')).toThrow('got HTTP/3')
  })
})

describe.each(TRANSPORTS)('a connection over %s', (over) => {
  const places = PLACES.filter((place) => place.over === over)
  test.each(places)('$mode, $kind', async (place) => {
    const rows = rowsOf(place).filter(({ when }) => when !== undefined)
    // All at once: each life has its own clock, and a turn of the loop serves them all.
    const outcomes = await Promise.all(rows.map((row) => happened(place, row).catch((error: unknown) => String(error))))
    expect(rows.map((row, index) => lineOf(row, outcomes[index] as string))).toEqual(rows.map((row) => lineOf(row, row.outcome)))
  })
})
