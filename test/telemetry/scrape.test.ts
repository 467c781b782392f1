// What a scraper gets from a life, over a socket, and what joins a registry of prom-client to it.
// Fails when: a name is printed twice, a source that fails takes the rest with it, the answer is in
// another format than was asked for, a lifecycle signal or phase has another time than the report.
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import {
  Counter,
  collectDefaultMetrics,
  Histogram,
  type OpenMetricsContentType,
  type PrometheusContentType,
  Registry,
  Summary,
} from 'prom-client'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { MetricsEndpoint } from '#src/endpoints/metrics-endpoint.ts'
import { fromPromClient, MetricRegistry, registerInto, renderMetrics } from '#src/metrics/index.ts'
import { SOURCE_MS_MAX } from '#src/metrics/sources.ts'
import { newLife, refusal } from '../support/life.ts'
import { connectTo } from '../support/raw-client.ts'

/** Outcomes by phase, as a scraper reads them. */
const phases = (text: string): Record<string, string> =>
  Object.fromEntries(
    Array.from(
      text.matchAll(/^quiesce_lifecycle_phase_duration_seconds\{outcome="(.*)",phase="(.*)"\} [\d.e-]+$/gm),
      ([, outcome, phase]) => [phase, outcome],
    ),
  )

/** A life that answers scrapes before its application. */
const served = async () => {
  const t = newLife({ options: { metrics: true, lastCall: 0 } })
  await t.life.start()
  return t
}

const scrape = async (port: number, headers: Record<string, string> = {}) => {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers })
  return { type: response.headers.get('content-type'), text: await response.text() }
}

test('metrics are answered before the application where that is asked for, and else on the admin listener alone', async () => {
  const t = await served()
  expect(await t.get('/metrics')).toMatchObject({ status: 200, body: expect.stringContaining('quiesce_connections{') })
  expect(await t.get('/metrics/slis')).toMatchObject({ status: 200, body: expect.stringContaining('# TYPE quiesce_health_check gauge\n') })
  expect(await t.get('/metricsx')).toMatchObject({ body: 'hello' })
  const other = newLife()
  await other.life.start()
  expect(await other.get('/metrics')).toMatchObject({ body: 'hello' })
})

test('in the format and the encoding that the scraper asks for', async () => {
  const { port } = await served()
  expect(await scrape(port, { Accept: 'application/openmetrics-text; version=1.0.0' })).toMatchObject({
    type: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
    text: expect.stringMatching(/quiesce_requests_rejected_total\{kind="late"\} 0\n.*# EOF\n$/s),
  })
  const asked = get({ port, path: '/metrics', headers: { 'Accept-Encoding': 'gzip' }, agent: false })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  expect(response.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept, Accept-Encoding' })
  expect(gunzipSync(await buffer(response)).toString()).toContain('quiesce_connections{')
})

test('what a life says of itself: signals, phases, what is in flight, what was refused, what is left of the budget', async () => {
  const t = await served()
  const client = await connectTo(t.port)
  const held = t.life.hold('job')
  onTestFinished(() => held[Symbol.dispose]())
  const before = await scrape(t.port)
  expect(before.text).toContain('quiesce_in_flight{kind="hold"} 1\n')
  expect(before.text).toContain('# TYPE quiesce_stop_budget_left_seconds gauge\n')
  const ended = t.end()
  await t.fired('NotAcceptingNewRequest')
  expect(await client.ask('GET', '/late')).toMatchObject({ status: 503 })
  const families = Object.fromEntries(t.life.metrics.collect().map((family) => [family.name, family.samples]))
  await expect.poll(() => phases(renderMetrics(t.life.metrics.collect()))['request-drain']).toBe('running')
  held[Symbol.dispose]()
  const report = await ended

  const refused = families['quiesce_requests_rejected_total']?.find(({ labels }) => labels['kind'] === 'not-accepting')
  expect(refused?.value).toBe(1)
  const left = families['quiesce_stop_budget_left_seconds']?.[0]?.value as number
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThanOrEqual(600)
  const fired = Object.fromEntries(
    (families['quiesce_lifecycle_signal_timestamp_seconds'] ?? []).map(({ labels, value }) => [labels['signal'], value]),
  )
  const stopRequestedAt = Date.parse(report.stopRequestedAt as string)
  for (const { name, at } of report.signals.filter(({ name }) => name in fired))
    expect(fired[name]).toBeCloseTo((stopRequestedAt + at) / 1_000, 1)
  expect(Object.keys(fired)).toContain('NotAcceptingNewRequest')
  expect(phases(before.text)).toMatchObject({ bind: 'ok', announce: 'ok' })
})

test('times are those of the clock: of signals since 1970, of phases since they began, of the budget until it is over', async () => {
  const clock = new VirtualClock({ wall: Date.UTC(2026, 0, 1) })
  const t = newLife({ clock, options: { lastCall: 0, deadline: '1m' } })
  const valuesOf = (name: string, label?: string) =>
    Object.fromEntries(
      (t.life.metrics.collect().find((family) => family.name === name)?.samples ?? []).map(({ labels, value }) => [
        label === undefined ? '' : labels[label],
        value,
      ]),
    )
  await t.life.start()
  expect(valuesOf('quiesce_stop_budget_left_seconds')).toEqual({})
  const held = t.life.hold('job')
  await clock.advance('5s')
  const ended = t.life.stop()
  await clock.advance('7s')
  expect(valuesOf('quiesce_lifecycle_signal_timestamp_seconds', 'signal')).toMatchObject({
    StopRequested: Date.UTC(2026, 0, 1) / 1_000 + 5,
  })
  expect(valuesOf('quiesce_lifecycle_phase_duration_seconds', 'phase')).toMatchObject({ 'request-drain': 7, bind: 0 })
  expect(valuesOf('quiesce_stop_budget_left_seconds')).toEqual({ '': 53 })
  held[Symbol.dispose]()
  await t.end(ended)
})

describe('the endpoint', () => {
  const answered = async (request: Parameters<MetricsEndpoint['handle']>[0]) => {
    const sent: { headers: Record<string, string>; body?: string | Uint8Array } = { headers: {} }
    const took = await new Promise<boolean>((resolve) => {
      const response = {
        statusCode: 200,
        headersSent: false,
        setHeader: (name: string, value: string) => Object.assign(sent.headers, { [name]: value }),
        end: (body: string | Uint8Array) => {
          sent.body = body
          resolve(true)
        },
      }
      if (!new MetricsEndpoint({ '/metrics': () => [] }).handle(request, response)) resolve(false)
    })
    return { took, ...sent }
  }

  test('reads a header that came twice as one', async () => {
    const headers = { accept: ['text/html', 'application/openmetrics-text; version=1.0.0'], 'accept-encoding': ['br', 'gzip'] }
    const { headers: got, body } = await answered({ url: '/metrics', headers } as never)
    expect(got).toMatchObject({ 'Content-Type': expect.stringContaining('openmetrics'), 'Content-Encoding': 'gzip' })
    expect(gunzipSync(body as Uint8Array).toString()).toBe('# EOF\n')
  })

  test('answers no request without a target', async () => {
    expect((await answered({ headers: {} } as never)).took).toBe(false)
  })
})

describe('a registry of prom-client', () => {
  function withPromClient() {
    const registry = new Registry<PrometheusContentType | OpenMetricsContentType>()
    registry.setDefaultLabels({ app: 'orders' })
    const orders = new Counter({ name: 'orders_total', help: 'Orders.', labelNames: ['kind'], registers: [registry] })
    orders.inc({ kind: 'book' }, 2)
    new Histogram({ name: 'order_seconds', help: 'Took.', buckets: [0.5, 1], registers: [registry] }).observe(0.7)
    new Summary({ name: 'order_bytes', help: 'Size.', percentiles: [0.5], registers: [registry] }).observe(10)
    return registry
  }

  test('is printed among ours', async () => {
    const t = await served()
    const added = t.life.addMetrics(fromPromClient(withPromClient()))
    const { text } = await scrape(t.port)
    expect(text).toContain('# HELP orders_total Orders.\n# TYPE orders_total counter\norders_total{app="orders",kind="book"} 2\n')
    expect(text).toContain(
      'order_seconds_bucket{app="orders",le="0.5"} 0\norder_seconds_bucket{app="orders",le="1"} 1\norder_seconds_bucket{app="orders",le="+Inf"} 1\n',
    )
    expect(text).toContain('order_seconds_sum{app="orders"} 0.7\norder_seconds_count{app="orders"} 1\n')
    expect(text).toContain('# TYPE order_bytes summary\norder_bytes{app="orders",quantile="0.5"} 10\norder_bytes_sum{app="orders"} 10\n')
    expect(text).toContain('quiesce_connections{')
    added[Symbol.dispose]()
    expect((await scrape(t.port)).text).not.toContain('orders_total')
  })

  test('prints ours among its own, in both of its formats', async () => {
    const registry = withPromClient()
    const metrics = new MetricRegistry()
    metrics
      .counter({ name: 'jobs_total', help: 'Jobs.', labels: ['queue'] })
      .with('mail')
      .add(3)
    metrics.histogram({ name: 'job_seconds', help: 'Took.', bounds: [1] }).observe(0.5)
    const t = newLife()
    const added = [registerInto(registry, metrics), registerInto(registry, t.life.metrics)]
    const text = await registry.metrics()
    expect(text).toContain('# HELP jobs_total Jobs.\n# TYPE jobs_total counter\njobs_total{queue="mail",app="orders"} 3\n')
    expect(text).toContain(
      'job_seconds_bucket{le="+Inf",app="orders"} 1\njob_seconds_sum{app="orders"} 0.5\njob_seconds_count{app="orders"} 1',
    )
    expect(text).toContain('quiesce_in_flight{kind="request",app="orders"} 0')
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
    expect(await registry.metrics()).toContain('# TYPE jobs counter\njobs_total{queue="mail",app="orders"} 3\n')
    for (const each of added) each[Symbol.dispose]()
    expect(registry.getMetricsAsArray().map(({ name }) => name)).not.toContain('jobs_total')
  })

  test('with its own metrics of the process is no other than any', async () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    const t = await served()
    t.life.addMetrics(fromPromClient(registry))
    const { text } = await scrape(t.port, { Accept: 'application/openmetrics-text' })
    expect(text).toMatch(/\nprocess_cpu_seconds_total [\d.]+\n/)
    registry.clear()
  })
})

describe('a name is printed once', () => {
  test('what is there already is refused when it is added', () => {
    const t = newLife()
    const metrics = new MetricRegistry()
    metrics.counter({ name: 'quiesce_connections', help: '' })
    expect(refusal(() => t.life.addMetrics(metrics))).toMatchObject({ code: 'ERR_DUPLICATE', details: { name: 'quiesce_connections' } })
    const [mine, other] = [new MetricRegistry(), new MetricRegistry()]
    mine.counter({ name: 'jobs_total', help: '' })
    other.gauge({ name: 'jobs_total', help: '' })
    t.life.addMetrics(mine)
    expect(refusal(() => t.life.addMetrics(other)).message).toBe(
      'metrics: "jobs_total" is there already: every metric has a name of its own',
    )
    const registry = new Registry()
    registerInto(registry, mine)
    expect(refusal(() => registerInto(registry, mine))).toMatchObject({ code: 'ERR_DUPLICATE', details: { name: 'jobs_total' } })
    // Both ways at once would print it in a circle, whichever comes first.
    expect(refusal(() => t.life.addMetrics(fromPromClient(registry)))).toMatchObject({ code: 'ERR_DUPLICATE' })
    const [first, second] = [newLife(), new Registry()]
    const added = first.life.addMetrics(fromPromClient(second))
    const both = refusal(() => registerInto(second, first.life.metrics))
    expect(both).toMatchObject({ code: 'ERR_DUPLICATE', message: expect.stringContaining('one direction is enough') })
    added[Symbol.dispose]()
    registerInto(second, first.life.metrics)
    expect(refusal(() => first.life.addMetrics(fromPromClient(second)))).toMatchObject({ code: 'ERR_DUPLICATE' })
  })

  test('one that comes twice at each scrape is said once', async () => {
    const t = await served()
    const metrics = new MetricRegistry()
    t.life.addMetrics(metrics)
    metrics.gauge({ name: 'quiesce_connections', help: 'not ours' })
    for (let at = 0; at < 3; at++) await scrape(t.port)
    expect(t.log.filter(({ message }) => message.includes('is there already'))).toHaveLength(1)
  })

  test('one that comes later is left out, and so is all of a source that fails; both is reported, the rest is printed', async () => {
    const t = await served()
    const metrics = new MetricRegistry()
    t.life.addMetrics(metrics)
    t.life.addMetrics({ names: [], collect: () => Promise.reject(new Error('no such table')) })
    metrics.counter({ name: 'jobs_total', help: '' })
    metrics.gauge({ name: 'quiesce_connections', help: 'not ours' })
    metrics.gauge({ name: 'quiesce_requests_rejected', help: 'that of a counter in OpenMetrics' })
    const { text } = await scrape(t.port)
    expect(text).toContain('jobs_total 0\n')
    expect(text.match(/# TYPE quiesce_connections /g)).toHaveLength(1)
    expect(text).not.toContain('not ours')
    const errors = t.events.flatMap((event) => (event.type === 'error' ? [`${event.where}: ${event.error.message}`] : []))
    expect(errors.sort()).toEqual([
      'metrics: metrics: "quiesce_connections" is there already: every metric has a name of its own',
      'metrics: metrics: "quiesce_requests_rejected" is there already: every metric has a name of its own',
      'metrics: no such table',
    ])
  })

  test('a source that never answers is left out after its time, asked once, and said once', async () => {
    const t = newLife({ options: { metrics: true, lastCall: 0 }, clock: new VirtualClock() })
    await t.life.start()
    t.life.addMetrics({ names: ['fine'], collect: () => [{ name: 'fine', help: '', type: 'gauge', samples: [{ labels: {}, value: 1 }] }] })
    const registry = new Registry()
    let asked = 0
    let settle: (() => void) | undefined
    const slow = new Counter({
      name: 'slow_total',
      help: 'Of a table.',
      registers: [registry],
      collect: () => {
        asked++
        if (settle) return undefined
        return new Promise<void>((resolve) => {
          settle = resolve
        })
      },
    })
    slow.inc(3)
    t.life.addMetrics(fromPromClient(registry))
    const failures = (reason: string, count: number) => `quiesce_metric_source_failures_total{reason="${reason}"} ${count}\n`
    // A connection each: one that is kept would have the end of the life wait.
    const first = t.get('/metrics')
    await expect.poll(() => asked).toBe(1)
    await t.clock.advance(SOURCE_MS_MAX)
    const { body: text } = await first
    expect(text).toContain('fine 1\n')
    expect(text).toContain(failures('timeout', 1))
    expect(text).not.toContain('slow_total')
    // It has had its time: no clock moves.
    expect((await t.get('/metrics')).body).toContain(failures('timeout', 2))
    expect(asked).toBe(1)
    const errors = t.events.flatMap((event) => (event.type === 'error' ? [[event.error.message, event.times]] : []))
    const words = 'metrics: the source of "slow_total" did not answer within 5s, and is left out until it does'
    expect(errors).toEqual([
      [words, undefined],
      [words, 0],
    ])
    settle?.()
    await expect.poll(async () => (await t.get('/metrics')).body).toContain('slow_total 3\n')
  })

  test('a source that throws at each scrape is said once, counted each time, and said to be back', async () => {
    const t = await served()
    let fails = true
    t.life.addMetrics({
      names: ['mine'],
      collect: () => {
        if (fails) throw new Error('no such table')
        return []
      },
    })
    for (let at = 0; at < 3; at++) await scrape(t.port)
    fails = false
    const { text } = await scrape(t.port)
    expect(text).toContain('quiesce_metric_source_failures_total{reason="error"} 3\n')
    const said = t.log.filter(({ message }) => /no such table|printed again/.test(message))
    expect(said.map(({ level, message, fields }) => [level, message, fields['source']])).toEqual([
      ['error', 'no such table', undefined],
      ['info', 'metrics of a source are printed again', 'the source of "mine"'],
    ])
  })

  test('a family that cannot be printed is left out and reported, and neither the scrape nor the life is lost', async () => {
    const t = await served()
    const printed = { name: 'mine', help: 'Mine.', type: 'gauge', samples: [{ labels: {}, value: 1 }] }
    const withSample = (sample: object) => ({ ...printed, samples: [{ ...printed.samples[0], ...sample }] })
    const broken = [
      undefined,
      { ...printed, name: 'a 1\nevil' },
      { ...printed, help: undefined },
      { ...printed, type: 'number' },
      { ...printed, samples: undefined },
      withSample({ labels: { kind: undefined } }),
      withSample({ labels: { 'a="",b': 'x' } }),
      withSample({ value: '1\nevil 1' }),
      { ...printed, samples: [undefined] },
    ]
    t.life.addMetrics({ names: ['mine'], collect: () => [...broken, printed] as never })
    t.life.addMetrics({ names: [], collect: () => null as never })
    const { text } = await scrape(t.port)
    expect(text).toContain('# TYPE mine gauge\nmine 1\n')
    expect(text).not.toContain('evil')
    const errors = t.events.flatMap((event) => (event.type === 'error' ? [`${event.where}: ${event.error.message}`] : []))
    expect(errors).toHaveLength(broken.length + 1)
    expect(errors).toContain('metrics: type of mine: got "number", allowed: counter, gauge, histogram, summary')
    expect(errors).toContain('metrics: what collect() returned: got null, allowed: a list of families')
  })

  test('one sample that cannot be printed leaves those beside it, is said once, counted each time, and said to be gone', async () => {
    const t = await served()
    const good = { labels: { queue: 'mail' }, value: 1 }
    let bad: readonly object[] = [
      { labels: { queue: 5 }, value: 1 },
      { labels: {}, value: '1' },
    ]
    t.life.addMetrics({ names: ['jobs'], collect: () => [{ name: 'jobs', help: '', type: 'gauge', samples: [good, ...bad] }] as never })
    for (let at = 0; at < 3; at++) expect((await scrape(t.port)).text).toContain('# TYPE jobs gauge\njobs{queue="mail"} 1\n')
    bad = []
    expect((await scrape(t.port)).text).toContain('quiesce_metric_source_failures_total{reason="refused"} 3\n')
    const said = t.log.filter(({ message }) => /samples of jobs|printed again/.test(message))
    expect(said.map(({ level, message }) => [level, message])).toEqual([
      ['error', expect.stringMatching(/^samples of jobs: got \{"labels":\{"queue":5\},"value":1\}, allowed: /)],
      ['info', 'metrics of a source are printed again'],
    ])
  })

  test.each([undefined, null, 5, {}, { names: [] }, { names: 5, collect: () => [] }])('what is no source is refused: %s', (given) => {
    const { life } = newLife()
    expect(refusal(() => life.addMetrics(given as never))).toMatchObject({ code: 'ERR_OPTION_INVALID' })
    expect(refusal(() => fromPromClient(given as never))).toMatchObject({ code: 'ERR_OPTION_INVALID' })
  })
})
