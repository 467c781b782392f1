// The table of all metrics in docs/metrics.md. Fails when: a metric has no line, a line no metric,
// it says another type, or leaves out a kind of refusal.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { apiserverWording } from '#apiserver/apiserver-wording.ts'
import { inFlightMetric, Seats } from '#apiserver/chain/max-in-flight.ts'
import { ApiMetrics } from '#apiserver/metrics/api-metrics.ts'
import { auditMetrics } from '#apiserver/metrics/audit-metrics.ts'
import { systemHost } from '#src/actors/host.ts'
import { neutralWording } from '#src/base/neutral-wording.ts'
import { CertificateWatch } from '#src/listeners/certificate-watch.ts'
import { newLife } from '../support/life.ts'

const TEXT = readFileSync(fileURLToPath(new URL('../../docs/metrics.md', import.meta.url)), 'utf8')

interface Row {
  readonly neutral: string
  readonly upstream: string
  readonly type: string
}

const rows: readonly Row[] = Array.from(
  TEXT.matchAll(/^\| (?:`(\w+)` )?\| `(\w+)` \| (counter|gauge|histogram) \|/gm),
  ([, neutral = '', upstream = '', type = '']) => ({ neutral, upstream, type }),
)

/** Names with their types, of all that a life may print under these words. */
function ofLife(words: ReturnType<typeof neutralWording>): readonly (readonly [string, string])[] {
  const { life } = newLife({ options: { wording: words } })
  const families = [...life.metrics.collect(), ...life.health.checkMetrics(), ...new CertificateWatch().metrics(words.metrics, 0)]
  return families.map(({ name, type }) => [name, type] as const)
}

test('has a line for every metric of a life, under both of its names', () => {
  const named = (name: (row: Row) => string) => rows.filter(({ neutral }) => neutral !== '').map((row) => [name(row), row.type])
  expect(named(({ neutral }) => neutral).toSorted()).toEqual(ofLife(neutralWording()).toSorted())
  expect(named(({ upstream }) => upstream).toSorted()).toEqual(ofLife(apiserverWording).toSorted())
})

test('has a line for every metric of an API server', () => {
  const { clock } = systemHost
  const seats = new Seats(1, clock)
  const families = [
    ...new ApiMetrics(clock, () => undefined).collect(),
    ...auditMetrics(),
    inFlightMetric({ readOnly: seats, mutating: seats }),
  ]
  const listed = rows.filter(({ neutral }) => neutral === '').map(({ upstream, type }) => [upstream, type])
  expect(listed.toSorted()).toEqual(families.map(({ name, type }) => [name, type]).toSorted())
})

test('names every kind of refusal that is counted', () => {
  const [line = ''] = /^\| `quiesce_requests_rejected_total` .*$/m.exec(TEXT) ?? []
  const kinds = Object.keys(newLife().life.counts().rejected)
  expect(kinds).toContain('hold')
  expect(kinds.filter((kind) => !line.includes(`\`${kind}\``))).toEqual([])
})
