// What is counted with, and what is printed of it. Fails when: a series is found again under other
// labels, what clients choose has no end, a bucket has a value that is not in it, a name comes
// twice, the text differs from its format by a byte.
import { describe, expect, test } from 'vitest'
import { exponentialBounds, type MetricFamily, MetricRegistry, renderMetrics } from '#src/metrics/index.ts'
import { metricFormat, takesGzip } from '#src/metrics/negotiation.ts'
import { refusal } from '../support/life.ts'

/** One that began to count at 1.5 s. */
const registry = () => new MetricRegistry({ wall: () => 1_500 })

const textOf = (metrics: MetricRegistry, format?: 'prometheus' | 'openmetrics') => renderMetrics(metrics.collect(), format)

describe('in the format of Prometheus', () => {
  test('a counter, by its labels, in the order in which they were counted', () => {
    const metrics = registry()
    const jobs = metrics.counter({ name: 'jobs_total', help: 'Jobs.', labels: ['queue', 'end'] })
    jobs.with('mail', 'ok').add()
    jobs.with('mail', 'failed').add(2)
    jobs.with('mail', 'ok').add(0.5)
    jobs.with('mail', 'ok').add(-1)
    expect(textOf(metrics)).toBe(
      '# HELP jobs_total Jobs.\n# TYPE jobs_total counter\njobs_total{end="ok",queue="mail"} 1.5\njobs_total{end="failed",queue="mail"} 2\n',
    )
  })

  test('without labels there is a sample from the start', () => {
    const metrics = registry()
    metrics.counter({ name: 'jobs_total', help: '' })
    metrics.gauge({ name: 'depth', help: '' }).set(-2)
    expect(textOf(metrics)).toContain('jobs_total 0\n')
    expect(textOf(metrics)).toContain('depth -2\n')
  })

  test('a histogram has each value in the buckets of its bound and above', () => {
    const metrics = registry()
    const seconds = metrics.histogram({ name: 'took_seconds', help: 'Took.', bounds: [0.00001, 0.5, 1, 1_000_000], labels: ['of'] })
    for (const value of [0.5, 0.500001, 1, 2_000_000, Number.NaN]) seconds.with('x').observe(value)
    expect(textOf(metrics)).toBe(
      [
        '# HELP took_seconds Took.\n# TYPE took_seconds histogram',
        'took_seconds_bucket{le="1e-05",of="x"} 0',
        'took_seconds_bucket{le="0.5",of="x"} 1',
        'took_seconds_bucket{le="1",of="x"} 3',
        'took_seconds_bucket{le="1e+06",of="x"} 3',
        'took_seconds_bucket{le="+Inf",of="x"} 4',
        'took_seconds_sum{of="x"} 2000002.000001',
        'took_seconds_count{of="x"} 4\n',
      ].join('\n'),
    )
  })

  test('what would break a line is escaped', () => {
    const family = { name: 'n', help: 'a\\b\nc"', type: 'gauge', samples: [{ labels: { l: 'q"\\\n' }, value: 1 }] } as const
    expect(renderMetrics([family])).toBe('# HELP n a\\\\b\\nc"\n# TYPE n gauge\nn{l="q\\"\\\\\\n"} 1\n')
    expect(renderMetrics([{ ...family, samples: [{ labels: {}, value: 2 }] }])).toContain('\nn 2\n')
  })

  test.each([
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
    [1e-7, '1e-7'],
  ])('%s is written %s', (value, text) => {
    expect(renderMetrics([{ name: 'n', help: '', type: 'gauge', samples: [{ labels: {}, value }] }])).toContain(`n ${text}\n`)
  })
})

test('in OpenMetrics counters end in _total, bounds have a point, and counts say since when', () => {
  const metrics = registry()
  metrics.counter({ name: 'jobs_total', help: 'A "job".' }).add()
  metrics.counter({ name: 'attempts', help: '' })
  metrics.histogram({ name: 'took_seconds', help: '', bounds: [1, 1_000_000] }).observe(1)
  metrics.gauge({ name: 'depth', help: '' })
  expect(textOf(metrics, 'openmetrics')).toBe(
    [
      '# TYPE jobs counter\n# HELP jobs A \\"job\\".\njobs_total 1\njobs_created 1.5',
      '# TYPE attempts counter\n# HELP attempts \nattempts_total 0\nattempts_created 1.5',
      '# TYPE took_seconds histogram\n# HELP took_seconds ',
      'took_seconds_bucket{le="1.0"} 1\ntook_seconds_bucket{le="1e+06"} 1\ntook_seconds_bucket{le="+Inf"} 1',
      'took_seconds_sum 1\ntook_seconds_count 1\ntook_seconds_created 1.5',
      '# TYPE depth gauge\n# HELP depth \ndepth 0\n# EOF\n',
    ].join('\n'),
  )
})

test('values of labels that are too many are counted as other, and those that are known go on', () => {
  const metrics = registry()
  const asked = metrics.counter({ name: 'asked_total', help: '', labels: ['path', 'code'], seriesMax: 2 })
  for (const path of ['/a', '/b', '/c', '/d', '/a']) asked.with(path, '200').add()
  expect(metrics.collect()[0]?.samples.map(({ labels, value }) => [labels['path'], labels['code'], value])).toEqual([
    ['/a', '200', 2],
    ['/b', '200', 1],
    ['other', 'other', 2],
  ])
  expect(asked.known(['/c', '200'])).toBeUndefined()
})

test('a number or a switch is the label that its text is, also when there are too many', () => {
  const metrics = registry()
  const answers = metrics.counter({ name: 'answers_total', help: '', labels: ['code', 'cached'], seriesMax: 2 })
  answers.with('200', 'true').add()
  answers.with(200, true).add()
  answers.with(404, false).add()
  answers.with(404, false).add()
  expect(answers.with(404, false)).toBe(answers.with('404', 'false'))
  expect(textOf(metrics).match(/^answers_total.*$/gm)).toEqual([
    'answers_total{cached="true",code="200"} 2',
    'answers_total{cached="false",code="404"} 2',
  ])
})

test.each([undefined, null, {}, ['mail'], Symbol('mail')])('what is no label is refused where it is given: %s', (value) => {
  const jobs = registry().counter({ name: 'jobs_total', help: '', labels: ['queue'] })
  expect(refusal(() => jobs.with(value as never))).toMatchObject({
    code: 'ERR_OPTION_INVALID',
    message: expect.stringMatching(/^label queue: got .+, allowed: a text or a number$/),
  })
})

test.each([undefined, null, '1', 1n, Number.NaN, {}])('what is no number is neither counted nor printed: %s', (value) => {
  const metrics = registry()
  const counter = metrics.counter({ name: 'jobs_total', help: '' })
  const gauge = metrics.gauge({ name: 'depth', help: '' })
  const histogram = metrics.histogram({ name: 'seconds', help: '', bounds: [1] })
  gauge.set(3)
  if (value !== undefined) counter.add(value as never)
  if (value !== undefined) gauge.with().add(value as never)
  if (!Number.isNaN(value)) gauge.set(value as never)
  histogram.observe(value as never)
  expect(textOf(metrics).match(/^(jobs_total|depth|seconds_sum|seconds_count) .*$/gm)).toEqual([
    'jobs_total 0',
    'depth 3',
    'seconds_sum 0',
    'seconds_count 0',
  ])
})

test('a series that is kept is the same as one that is looked up; a list of values may be used again', () => {
  const asked = registry().counter({ name: 'asked_total', help: '', labels: ['path'] })
  const values = ['/a']
  const kept = asked.of(values)
  values[0] = '/b'
  asked.of(values).add()
  expect(asked.with('/a')).toBe(kept)
  expect([kept.value, asked.with('/b').value]).toEqual([0, 1])
})

test('what is reset begins again', () => {
  const metrics = registry()
  const asked = metrics.counter({ name: 'asked_total', help: '', labels: ['path'] })
  const all = metrics.counter({ name: 'all_total', help: '' })
  asked.with('/a').add()
  all.add(3)
  metrics.reset()
  all.add()
  expect(metrics.collect().map(({ samples }) => samples.map(({ value }) => value))).toEqual([[], [1]])
})

test('exponential bounds', () => {
  expect(exponentialBounds(1_000, 10, 7)).toEqual([1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9])
  expect(exponentialBounds(0.001, 2, 3)).toEqual([0.001, 0.002, 0.004])
})

describe('refused', () => {
  const taken = registry()
  taken.counter({ name: 'jobs_total', help: '' })
  test.each<[string, string, () => unknown]>([
    [
      'ERR_DUPLICATE',
      'unable to add the metric "jobs" because it was already registered by: ',
      () => taken.gauge({ name: 'jobs', help: '' }),
    ],
    ['ERR_DUPLICATE', 'unable to add the metric "jobs"', () => taken.counter({ name: 'jobs_total', help: '' })],
    ['ERR_OPTION_INVALID', 'name: got "a-b", allowed: letters', () => registry().counter({ name: 'a-b', help: '' })],
    ['ERR_OPTION_INVALID', 'help of a: got 5, allowed: text', () => registry().gauge({ name: 'a', help: 5 as never })],
    ['ERR_OPTION_INVALID', 'labels of a: got "__x"', () => registry().gauge({ name: 'a', help: '', labels: ['__x'] })],
    ['ERR_OPTION_INVALID', 'labels of a: got "x", allowed: each once', () => registry().gauge({ name: 'a', help: '', labels: ['x', 'x'] })],
    ['ERR_OPTION_INVALID', 'labels of a: got "le"', () => registry().histogram({ name: 'a', help: '', labels: ['le'], bounds: [1] })],
    ['ERR_OPTION_INVALID', 'seriesMax of a: got 0', () => registry().gauge({ name: 'a', help: '', seriesMax: 0 })],
    ['ERR_OPTION_INVALID', 'bounds of a: got ', () => registry().histogram({ name: 'a', help: '', bounds: [] })],
    ['ERR_OPTION_INVALID', 'bounds of a: got ', () => registry().histogram({ name: 'a', help: '', bounds: [1, 1] })],
    [
      'ERR_OPTION_INVALID',
      'labels: got [], allowed: 1 values: x',
      () =>
        registry()
          .gauge({ name: 'a', help: '', labels: ['x'] })
          .with(),
    ],
  ])('%s: %s', (code, message, run) => {
    const refused = refusal(run)
    expect(refused).toMatchObject({ code })
    expect(refused.message).toContain(message)
  })
})

test.each([
  [undefined, 'prometheus'],
  ['', 'prometheus'],
  ['*/*', 'prometheus'],
  ['application/json', 'prometheus'],
  ['application/openmetrics-text', 'openmetrics'],
  ['application/openmetrics-text; version=2.0.0', 'prometheus'],
  ['application/openmetrics-text; version="1.0.0"; charset=utf-8', 'openmetrics'],
  ['application/openmetrics-text;q=0, */*;q=0.1', 'prometheus'],
  ['text/plain;version=0.0.4;q=0.3, application/openmetrics-text;version=0.0.1;q=0.5', 'openmetrics'],
  ['text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0', 'prometheus'],
  [
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    'openmetrics',
  ],
])('Accept: %s gets %s', (accept, format) => {
  expect(metricFormat(accept)).toBe(format)
})

test.each([
  [undefined, false],
  ['', false],
  ['identity', false],
  ['gzip', true],
  ['deflate, GZIP;q=0.5', true],
  ['gzip;q=0, *', false],
  ['*', true],
  ['*;q=0', false],
])('Accept-Encoding: %s takes gzip: %s', (header, takes) => {
  expect(takesGzip(header)).toBe(takes)
})

test('one program cannot print what another one reads as a line of its own', () => {
  const hostile: MetricFamily = {
    name: 'n',
    help: 'x\n# TYPE y counter',
    type: 'counter',
    samples: [{ labels: { path: '/a"} 1\nevil 2' }, value: 1 }],
  }
  for (const format of ['prometheus', 'openmetrics'] as const)
    expect(
      renderMetrics([hostile], format)
        .split('\n')
        .filter((line) => line.startsWith('evil') || line.startsWith('# TYPE y')),
    ).toEqual([])
})
