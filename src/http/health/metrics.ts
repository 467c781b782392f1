import { pathOf, type RequestLike } from '../request-info.ts'
import { type ResponseLike, respond } from '../respond.ts'

export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** One metric with all its samples. */
export interface MetricFamily {
  readonly name: string
  /** One line for people. */
  readonly help: string
  readonly type: 'counter' | 'gauge'
  readonly samples: readonly MetricSample[]
}

/**
 * The text format that Prometheus scrapes. Labels are sorted, so that the same numbers are always
 * the same text.
 */
export function renderMetrics(families: readonly MetricFamily[]): string {
  return families.map(renderFamily).join('')
}

function renderFamily({ name, help, type, samples }: MetricFamily): string {
  const lines = samples.map(({ labels, value }) => `${name}${renderLabels(labels)} ${value}\n`)
  return `# HELP ${name} ${escapeText(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.keys(labels)
    .sort()
    .map((name) => `${name}="${escapeText(labels[name] as string).replaceAll('"', '\\"')}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

const escapeText = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Answers the given paths with the metrics of their sources, whatever the method, and says whether
 * it did. A source is asked at each scrape and must not throw.
 */
export function metricsEndpoint(
  sources: Readonly<Record<string, () => readonly MetricFamily[]>>,
): (request: Pick<RequestLike, 'url'>, response: ResponseLike) => boolean {
  const byPath = new Map(Object.entries(sources))
  return ({ url = '/' }, response) => {
    const source = byPath.get(pathOf(url))
    if (!source) return false
    respond(response, { status: 200, headers: { 'Content-Type': CONTENT_TYPE }, body: renderMetrics(source()) })
    return true
  }
}
