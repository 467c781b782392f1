import { gzip } from 'node:zlib'
import { pathOf, type RequestLike } from '../http/request-info.ts'
import { type ResponseLike, respond } from '../http/respond.ts'
import type { MetricFamily } from '../metrics/family.ts'
import { metricFormat, takesGzip } from '../metrics/negotiation.ts'
import { CONTENT_TYPES, renderMetrics } from '../metrics/text.ts'

type Families = readonly MetricFamily[]

/**
 * Answers the given paths with the metrics of their sources, whatever the method, and says whether
 * it did: in the text format of Prometheus, or in OpenMetrics for those who ask for that, and
 * compressed for those who take gzip. A source is asked at each scrape; it must not throw or
 * reject.
 */
export function metricsEndpoint(
  sources: Readonly<Record<string, () => Families | Promise<Families>>>,
): (request: RequestLike, response: ResponseLike) => boolean {
  const byPath = new Map(Object.entries(sources))
  return (request, response) => {
    const source = byPath.get(pathOf(request.url ?? '/'))
    if (!source) return false
    const families = source()
    if (families instanceof Promise) void families.then((all) => send(request, response, all))
    else send(request, response, families)
    return true
  }
}

function send({ headers }: RequestLike, response: ResponseLike, families: Families): void {
  const format = metricFormat(textOf(headers['accept']))
  const text = renderMetrics(families, format)
  const plain = { status: 200, headers: { 'Content-Type': CONTENT_TYPES[format] } }
  if (!takesGzip(textOf(headers['accept-encoding']))) {
    respond(response, { ...plain, body: text })
  } else {
    const encoded = { ...plain.headers, 'Content-Encoding': 'gzip', Vary: 'Accept, Accept-Encoding' }
    gzip(text, (error, zipped) => respond(response, error ? { ...plain, body: text } : { ...plain, headers: encoded, body: zipped }))
  }
}

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' || header === undefined ? header : header.join(', ')
