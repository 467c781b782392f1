import type { Answer, Exchange } from './recorded.ts'

/** One way in which our answers differ from the recorded ones, and are known to. */
export interface Difference {
  /**
   * The V-number of docs/divergences.md; or `not yet:`, the part of the API server that brings it,
   * and what is missing.
   */
  readonly why: string
  /** The answers that differ so, exactly these: one that is listed and does not fails the test. */
  readonly where: (exchange: Exchange) => boolean
  /** Makes of what was recorded what ours has to be; without it nothing is compared. */
  readonly change?: (recorded: Answer) => Answer
}

type Where = Difference['where']

const inGroup =
  (...groups: readonly string[]): Where =>
  ({ group }) =>
    groups.includes(group)

const pathOf = ({ request }: Exchange): string => request.path.split('?')[0] as string

const at =
  (...paths: readonly string[]): Where =>
  (exchange) =>
    paths.includes(pathOf(exchange))

/** Exactly so, with its query. */
const asked =
  (target: string): Where =>
  ({ request }) =>
    request.path === target

const below =
  (...prefixes: readonly string[]): Where =>
  (exchange) =>
    prefixes.some((prefix) => pathOf(exchange).startsWith(prefix))

const all =
  (...conditions: readonly Where[]): Where =>
  (exchange) =>
    conditions.every((one) => one(exchange))

const not =
  (condition: Where): Where =>
  (exchange) =>
    !condition(exchange)

const answered =
  (status: number): Where =>
  ({ answer }) =>
    answer.status === status

const asksTo =
  (method: string): Where =>
  ({ request }) =>
    request.method === method

const accepts =
  (type: string): Where =>
  ({ request }) =>
    request.headers?.['Accept']?.includes(type) === true

/** A length that was that of the body stays that of the body, whose placeholders stand for more. */
function withBody({ headers, ...answer }: Answer, body: string): Answer {
  const grown = Buffer.byteLength(body) - Buffer.byteLength(answer.body ?? '')
  const length = headers?.['content-length']
  return { ...answer, headers: { ...headers, ...(length && { 'content-length': String(Number(length) + grown) }) }, body }
}

/** Another body, which says its length. */
const withoutBody = ({ headers: { 'transfer-encoding': _, ...headers } = {}, body, bodyBegins, metrics, ...answer }: Answer): Answer => ({
  ...answer,
  headers: { ...headers, 'content-length': '<length>' },
})

/** A path of the index, or a check of a health endpoint, that is not listed. */
const notListed = (name: string, where: Where = () => true): Pick<Difference, 'where' | 'change'> => {
  const line = new RegExp(`^ *("|\\[[+-]\\]|/).*${name}(",?| ok)$`)
  const isThere = ({ answer: { body = '' } }: Exchange): boolean => body.split('\n').some((each) => line.test(each))
  return {
    where: all(isThere, where),
    change: (recorded) =>
      withBody(
        recorded,
        (recorded.body as string)
          .split('\n')
          .filter((each) => !line.test(each))
          .join('\n'),
      ),
  }
}

const bodyOf = ({ answer: { body = '' } }: Exchange): string => body

/** A body that says it, exactly so. */
const says =
  (text: string): Where =>
  (exchange) =>
    bodyOf(exchange).includes(text)

/** A part of the body that is another one. */
const saidAs =
  (recorded: string | RegExp, ours: string): NonNullable<Difference['change']> =>
  (answer) =>
    answer.body === undefined ? answer : withBody(answer, answer.body.replaceAll(recorded, ours))

/** The same without chunks. */
const withLength: NonNullable<Difference['change']> = ({ headers: { 'transfer-encoding': _, ...headers } = {}, ...answer }) => ({
  ...answer,
  headers: { ...headers, 'content-length': '<length>' },
})

/** Without what Go's file server says, and in the list without documents of anything but groups. */
const openApi: NonNullable<Difference['change']> = ({
  headers: { 'accept-ranges': _, 'last-modified': _modified, 'content-length': _length, ...headers } = {},
  ...answer
}) => ({
  ...answer,
  headers: { ...headers, 'content-length': '<length>' },
  ...(answer.body !== undefined && {
    body: answer.body.replace(/"(?:apis|apis\/widgets\.example|version)":\{[^}]*\},?/g, '').replace(',}', '}'),
  }),
})

/** Without who has set which field: from the comma before it to the bracket that ends it. */
function withoutManagedFields(body: string): string {
  const found = /,\s*"managedFields":\s*\[/.exec(body)
  if (found === null) return body
  let depth = 1
  let end = found.index + found[0].length
  for (; depth > 0; end++) depth += body[end] === '[' ? 1 : body[end] === ']' ? -1 : 0
  return withoutManagedFields(body.slice(0, found.index) + body.slice(end))
}

/** The same, of the one document: parameters stand where they are used. */
const openApiV2: NonNullable<Difference['change']> = (answer) => ({
  ...openApi(answer),
  bodyKeys: ['swagger', 'info', 'paths', 'definitions'],
})

const WIDGETS = '/apis/widgets.example/v1/namespaces/default/widgets'
const isOfResources = inGroup('resources')
const isWatched: Where = ({ request }) => /watch=|\/watch\//.test(request.path)
/** Of the first 8 bytes of the SHA-256 of `widgets.example/v1/Widget`. */
const HASH = '7qVMQVlMKMw='

/** The recorded server has patched it once more, to green. */
const PATCHED = 13
const withoutStrategicPatch = (body: string): string =>
  body.replaceAll('"green"', '"blue"').replace(/("resourceVersion": ?")(\d+)/g, (_, name: string, version: string) => {
    const number = Number(version)
    return `${name}${number >= PATCHED ? number - 1 : number}`
  })

/** One object was deleted after that. */
const bookmark = (meta: string): string =>
  `{"type":"BOOKMARK","object":{"kind":"Widget","apiVersion":"widgets.example/v1","metadata":{${meta}"resourceVersion":"${PATCHED}"}}}\n`

/** What is not compared at all. */
const isPatchOfFields: Where = ({ request }) => /apply-patch|strategic-merge/.test(request.headers?.['Content-Type'] ?? '')
const isOther: Where = (exchange) =>
  isPatchOfFields(exchange) ||
  below(`${WIDGETS}/applied`)(exchange) ||
  asked(`${WIDGETS}?resourceVersion=x`)(exchange) ||
  says('cannot unmarshal string into Go struct field WidgetSpec')(exchange)

/** Each with its reason; the shorter, the better. */
export const KNOWN_DIFFERENCES: readonly Difference[] = [
  { why: 'not yet: storage: the hook that counts objects', ...notListed('storage-object-count-tracker-hook') },

  { why: 'V77: without groups there is nothing to say', ...notListed('/openapi/v2', not(isOfResources)) },
  { why: 'V77: without groups there is nothing to say', ...notListed('/openapi/v3', not(isOfResources)) },
  { why: 'V77: without groups there is nothing to say', ...notListed('/openapi/v3/', not(isOfResources)) },
  {
    why: 'V33: a storage that says whether it is ready is waited for',
    where: all(isOfResources, at('/')),
    change: saidAs(/( *"\/(?:healthz|livez|readyz)\/poststarthook\/)max-in-flight-filter",\n/g, '$&$1storage-readiness",\n'),
  },
  { why: 'V77: without groups there is nothing to say', where: all(below('/openapi/'), not(isOfResources), not(answered(404))) },
  { why: 'V77: OpenAPI has documents of groups alone', where: all(isOfResources, at('/openapi/v2')), change: openApiV2 },
  { why: 'V44: profiles are those of Node', where: all(at('/debug/pprof/'), answered(200)), change: withoutBody },
  {
    why: 'V44: what knows no profile is no pprof',
    where: at('/debug/pprof/cmdline'),
    change: ({ headers: { 'x-go-pprof': _, ...headers } = {}, ...answer }) => ({ ...answer, headers }),
  },
  { why: 'V44: the level of a log is its logger’s', where: below('/debug/flags') },
  {
    why: 'V43: metrics are those of what is there',
    where: all(at('/metrics', '/metrics/slis'), not(asksTo('DELETE'))),
    change: withoutBody,
  },

  {
    why: 'V73: no server says who has set which field',
    where: all(says('managedFields'), not(isOther)),
    change: (recorded) => {
      // A time in it is as long as a time is, and not as its placeholder.
      const body = (recorded.body as string).replaceAll('"time":"<time>"', '"time":"0000-00-00T00:00:00Z"')
      const spaced = body.replaceAll('"time": "<time>"', '"time": "0000-00-00T00:00:00Z"')
      return withBody({ ...recorded, body: spaced }, withoutManagedFields(spaced))
    },
  },
  {
    why: 'V73: what needs to know who has set which field is 415',
    where: all(isPatchOfFields, not(answered(401)), not(answered(403))),
  },
  { why: 'V73: so there is no object that was applied', where: all(asksTo('GET'), below(`${WIDGETS}/applied`)) },
  {
    why: 'V73: and no version of the one that was patched',
    where: all(isOfResources, not(isOther), (exchange) => withoutStrategicPatch(bodyOf(exchange)) !== bodyOf(exchange)),
    change: (recorded) => withBody(recorded, withoutStrategicPatch(recorded.body as string)),
  },
  {
    why: 'V74: a value of another type is invalid, as in a custom resource',
    where: says('cannot unmarshal string into Go struct field WidgetSpec'),
  },
  {
    why: 'V74: an object without a kind is refused, as a custom resource is',
    where: all(inGroup('resources'), answered(422), ({ request: { body } }) => body === '{}' || body === 'null'),
  },
  {
    why: 'V74: HEAD is GET without the body, as of a custom resource',
    where: all(isOfResources, asksTo('HEAD')),
  },
  { why: 'V74: there is no scheme', where: says(' in scheme '), change: saidAs(/ in scheme \\"[^"]*"/g, '') },
  {
    why: 'V75: what is sent at once says its length',
    where: all(
      isOfResources,
      ({ answer: { headers, body } }) => body !== undefined && headers?.['transfer-encoding'] !== undefined,
      not(isWatched),
      not(isOther),
    ),
    change: withLength,
  },
  {
    why: 'V76: discovery says the group of a kind',
    where: says('"responseKind":{"group":""'),
    change: saidAs('"responseKind":{"group":"","version":""', '"responseKind":{"group":"widgets.example","version":"v1"'),
  },
  {
    why: 'V76: discovery has a hash of the version',
    where: says('"categories":["all"]}]}\n'),
    change: saidAs('"categories":["all"]}]}\n', `"categories":["all"],"storageVersionHash":"${HASH}"}]}\n`),
  },
  {
    why: 'V76: discovery has a hash of the version',
    where: says('  singularName: widget\n'),
    change: saidAs('  singularName: widget\n', `  singularName: widget\n  storageVersionHash: ${HASH}\n`),
  },
  {
    why: 'V77: OpenAPI has documents of groups alone',
    where: all(isOfResources, below('/openapi/v3')),
    change: openApi,
  },
  {
    why: 'the end of what was there is told, as by the cache that the recorded server does not have',
    where: ({ request }) => request.path.includes('allowWatchBookmarks=true&sendInitialEvents=true'),
    change: (recorded) => withBody(recorded, `${recorded.body}${bookmark('"annotations":{"k8s.io/initial-events-end":"true"},')}`),
  },
  {
    why: 'V78: a client that asks for bookmarks gets them, the last one at the end',
    where: ({ request }) => request.path.includes('allowWatchBookmarks=true'),
    change: (recorded) => withBody(recorded, `${recorded.body}${bookmark('')}`),
  },
  { why: 'V78: a version that is no number is refused', where: asked(`${WIDGETS}?resourceVersion=x`) },
  {
    why: 'V13: a handler that throws before it has sent anything is answered for',
    where: all(inGroup('panics'), asked('/panic')),
    change: () => ({ status: 500, body: 'This request caused apiserver to panic. Look in the logs for details.\n' }),
  },
  {
    why: 'V13: there is no switch that has the text follow what was sent before',
    where: all(inGroup('panics-swallowed'), at('/panic'), answered(200)),
    change: ({ headers }) => (headers?.['transfer-encoding'] ? {} : { error: 'closed' }),
  },
  { why: 'V31: what was written before the deadline has been sent', where: all(at('/partial'), ({ answer }) => answer.error === 'closed') },

  { why: 'V32: no protobuf', where: accepts('application/vnd.kubernetes.protobuf') },
  {
    why: 'V32: protobuf is none of the types that are available',
    where: ({ answer: { body = '' } }) => body.includes(', application/vnd.kubernetes.protobuf'),
    change: saidAs(/, application\/vnd\.kubernetes\.protobuf(?:;stream=watch)?/g, ''),
  },
]

/** The same for what was audited: `missing` or `not recorded`, and then the event. */
export interface EventDifference {
  readonly why: string
  readonly group: string
  readonly line: RegExp
}

export const KNOWN_EVENT_DIFFERENCES: readonly EventDifference[] = [
  {
    why: 'V73: what needs to know who has set which field is 415',
    group: 'authentication',
    line: /\/widgets\/applied\S* ResponseComplete (200|201|404|409|415)$/,
  },
  { why: 'V34: the event says 504 where the client got that', group: 'deadline', line: / ResponseComplete (200|504)$/ },
]
