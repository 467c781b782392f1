import type { Answer } from './recorded.ts'

/** What stands in a recorded text for what is another one in every run. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  uuid: '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  date: '\\w{3}, \\d\\d \\w{3} \\d{4} \\d\\d:\\d\\d:\\d\\d GMT',
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z',
  port: '\\d+',
  length: '\\d+',
  hash: '[0-9A-F]{128}',
  etag: '"?[0-9A-F]+"?',
  build: '[^"]+',
  generated: '[a-z0-9]{5}',
  'last-modified': '.+',
  'process-start-time-unix': '\\d+',
}
const PLACEHOLDER = new RegExp(`<(${Object.keys(PLACEHOLDERS).join('|')})>`)

function matches(recorded: string, text: string): boolean {
  // Of three pieces the middle one is the name of a placeholder.
  const pattern = recorded.split(PLACEHOLDER).map((piece, at) => (at % 2 === 1 ? PLACEHOLDERS[piece] : escapeRegExp(piece)))
  return new RegExp(`^${pattern.join('')}$`, 's').test(text)
}

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** What of an answer is not as expected, a line each. */
export function differencesBetween(expected: Answer, ours: Answer, method = 'GET'): readonly string[] {
  const lines: string[] = []
  const differ = (what: string, recorded: unknown, given: unknown) =>
    lines.push(`${what}: recorded ${JSON.stringify(recorded) ?? 'nothing'}, ours ${JSON.stringify(given) ?? 'nothing'}`)
  const text = (what: string, recorded: string | undefined, given: string | undefined) => {
    if (recorded === undefined ? given !== undefined : given === undefined || !matches(recorded, given)) differ(what, recorded, given)
  }
  if (expected.error !== ours.error && (expected.error !== undefined || expected.status !== undefined))
    differ('error', expected.error, ours.error)
  if (expected.status !== undefined) {
    if (expected.status !== ours.status) differ('status', expected.status, ours.status)
    text('cut', expected.cut, ours.cut)
  }
  if (expected.headers !== undefined)
    for (const name of new Set([...Object.keys(expected.headers), ...Object.keys(ours.headers ?? {})].sort()))
      text(`header ${name}`, expected.headers[name], ours.headers?.[name])
  const { body = '' } = ours
  if (expected.body !== undefined) text('body', method === 'HEAD' ? '' : expected.body, body)
  if (expected.bodyBegins !== undefined && !body.startsWith(expected.bodyBegins))
    differ('body begins', expected.bodyBegins, body.slice(0, 60))
  if (expected.bodyKeys !== undefined) text('keys of the body', expected.bodyKeys.join(), keysOf(body))
  if (expected.metrics !== undefined) text('metrics', namesOf(Object.keys(expected.metrics)), namesOf(metricNames(body)))
  return lines
}

function keysOf(body: string): string {
  try {
    return Object.keys(JSON.parse(body) as object).join()
  } catch {
    return 'no JSON'
  }
}

const metricNames = (body: string): readonly string[] => [...body.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string)

const namesOf = (names: readonly string[]): string => [...names].sort().join('\n')
