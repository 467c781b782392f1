import type { MetricFormat } from './text.ts'

/** What each format is asked for by: a media type, and the versions that are that one. */
const ASKED_BY: Readonly<Record<MetricFormat, { readonly types: readonly string[]; readonly versions: readonly string[] }>> = {
  openmetrics: { types: ['application/openmetrics-text'], versions: ['1.0.0', '0.0.1'] },
  prometheus: { types: ['text/plain', 'text/*', '*/*'], versions: ['0.0.4'] },
}

/**
 * The format that a scraper wants by its `Accept`; what asks for neither gets that of Prometheus,
 * because there is always something to say.
 */
export function metricFormat(accept: string | undefined): MetricFormat {
  for (const { range, version } of clausesOf(accept ?? '')) {
    const formats = Object.keys(ASKED_BY) as MetricFormat[]
    const wanted = formats.find((format) => {
      const { types, versions } = ASKED_BY[format]
      return types.includes(range) && (version === undefined || versions.includes(version))
    })
    if (wanted) return wanted
  }
  return 'prometheus'
}

/** Whether a client takes gzip. @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3 */
export function takesGzip(acceptEncoding: string | undefined): boolean {
  const clauses = (acceptEncoding ?? '').split(',').map(clauseOf)
  const named = clauses.find(({ range }) => range === 'gzip' || range === 'x-gzip') ?? clauses.find(({ range }) => range === '*')
  return named !== undefined && named.quality > 0
}

interface Clause {
  readonly range: string
  readonly version: string | undefined
  readonly quality: number
}

/** What is wanted most first. */
const clausesOf = (header: string): readonly Clause[] =>
  header
    .split(',')
    .map(clauseOf)
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)

function clauseOf(clause: string): Clause {
  const [range = '', ...given] = clause.split(';').map((piece) => piece.trim().toLowerCase())
  const parameter = (name: string) => given.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1)
  const quality = Number(parameter('q') ?? 1)
  return { range, version: parameter('version')?.replaceAll('"', ''), quality: Number.isNaN(quality) ? 1 : quality }
}
