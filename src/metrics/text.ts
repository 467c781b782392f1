import { checkArguments } from '../base/arguments.ts'
import { type Labels, type MetricFamily, type MetricSample, openMetricsName } from './family.ts'

export type MetricFormat = 'prometheus' | 'openmetrics'

/**
 * The content types as the client library of Prometheus names them: names have the old set of
 * characters.
 * @see prometheus/common expfmt/expfmt.go
 */
export const CONTENT_TYPES: Readonly<Record<MetricFormat, string>> = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
}

/**
 * The text that Prometheus scrapes: its own format 0.0.4, or OpenMetrics 1.0. Labels are sorted, so
 * that the same numbers are always the same text.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 * @see https://prometheus.io/docs/specs/om/open_metrics_spec/
 */
export function renderMetrics(families: readonly MetricFamily[], format: MetricFormat = 'prometheus'): string {
  checkArguments('renderMetrics(families, format?)', [families, 'a list'], [format, 'a text'])
  return format === 'prometheus' ? families.map(prometheusFamily).join('') : `${families.map(openMetricsFamily).join('')}# EOF\n`
}

function prometheusFamily({ name, help, type, samples }: MetricFamily): string {
  const lines = samples.map(({ suffix = '', labels, value }) => line(`${name}${suffix}`, labels, value, boundText))
  return `# HELP ${name} ${escapeLine(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function openMetricsFamily(family: MetricFamily): string {
  const { help, type, samples } = family
  const name = openMetricsName(family)
  const suffixOf = ({ suffix = '' }: MetricSample): string => (type === 'counter' ? '_total' : suffix)
  const lines = samples.map((sample) => {
    const { labels, value, createdAt } = sample
    const counted = line(`${name}${suffixOf(sample)}`, labels, value, canonicalBound)
    return createdAt === undefined ? counted : `${counted}${line(`${name}_created`, labels, createdAt, canonicalBound)}`
  })
  return `# TYPE ${name} ${type}\n# HELP ${name} ${escapeLabel(help)}\n${lines.join('')}`
}

const line = (name: string, labels: Labels, value: number, bound: (given: string) => string): string =>
  `${name}${labelsText(labels, bound)} ${numberText(value)}\n`

function labelsText(labels: Labels, bound: (given: string) => string): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((name) => {
      const value = labels[name] as string
      return `${name}="${escapeLabel(IS_BOUND.has(name) ? bound(value) : value)}"`
    })
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeLine = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
const escapeLabel = (text: string): string => escapeLine(text).replaceAll('"', '\\"')

/** Labels that hold numbers. */
const IS_BOUND: ReadonlySet<string> = new Set(['le', 'quantile'])

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

/** A bound as Go writes it, which is how those who know upstream's ask for it. */
export function boundText(given: number | string): string {
  const value = Number(given)
  if (!Number.isFinite(value)) return numberText(given === '+Inf' ? Number.POSITIVE_INFINITY : value)
  const [mantissa = '', exponent = ''] = value.toExponential().split('e')
  const size = Number(exponent)
  if (size >= -4 && size < 6) return String(value)
  return `${mantissa}e${size < 0 ? '-' : '+'}${String(Math.abs(size)).padStart(2, '0')}`
}

/** OpenMetrics has every bound with a point or an exponent: `1.0`. */
function canonicalBound(given: string): string {
  const text = boundText(given)
  return /^-?\d+$/.test(text) ? `${text}.0` : text
}
