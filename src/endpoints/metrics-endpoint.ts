import { gzip } from 'node:zlib'
import { type EncodedAnswer, type ResponseLike, respond } from '../http/respond.ts'
import { pathOf, type RequestLike } from '../http/url.ts'
import type { MetricFamily } from '../metrics/family.ts'
import { metricFormat, takesGzip } from '../metrics/negotiation.ts'
import { CONTENT_TYPES, renderMetrics } from '../metrics/text.ts'

type Families = readonly MetricFamily[]

/** A source is asked at each scrape; it must not throw or reject. */
type FamiliesByPath = Readonly<Record<string, () => Families | Promise<Families>>>

/**
 * Answers the given paths with the metrics of their sources, whatever the method: in the text
 * format of Prometheus, or in OpenMetrics for those who ask for that, and compressed for those who
 * take gzip.
 */
export class MetricsEndpoint {
  readonly #sources: ReadonlyMap<string, FamiliesByPath[string]>

  constructor(sources: FamiliesByPath) {
    this.#sources = new Map(Object.entries(sources))
  }

  get paths(): readonly string[] {
    return [...this.#sources.keys()]
  }

  /** Answers a request for one of the paths, and says whether it does. */
  readonly handle = (request: RequestLike, response: ResponseLike): boolean => {
    const answer = this.answer(pathOf(request.url ?? '/'), request.headers)
    if (!answer) return false
    if (answer instanceof Promise) void answer.then((it) => respond(response, it))
    else respond(response, answer)
    return true
  }

  /**
   * The answer for this decoded path, in the same step where nothing has to be waited for;
   * undefined for a path of none. Never rejects.
   */
  answer(path: string, headers: RequestLike['headers']): EncodedAnswer | Promise<EncodedAnswer> | undefined {
    const families = this.#sources.get(path)?.()
    if (families instanceof Promise) return families.then((all) => rendered(all, headers))
    return families && rendered(families, headers)
  }
}

function rendered(families: Families, headers: RequestLike['headers']): EncodedAnswer | Promise<EncodedAnswer> {
  const format = metricFormat(textOf(headers['accept']))
  const body = renderMetrics(families, format)
  const plain = { status: 200, headers: { 'Content-Type': CONTENT_TYPES[format] }, body }
  if (!takesGzip(textOf(headers['accept-encoding']))) return plain
  const encoded = { ...plain.headers, 'Content-Encoding': 'gzip', Vary: 'Accept, Accept-Encoding' }
  return new Promise((resolve) => {
    gzip(body, (error, zipped) => resolve(error ? plain : { ...plain, headers: encoded, body: zipped }))
  })
}

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' || header === undefined ? header : header.join(', ')
