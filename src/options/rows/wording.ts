import { METRIC_PREFIX_DEFAULT, neutralWording } from '../../base/neutral-wording.ts'
import { validateHeaderName, validateHeaderValue } from '../../base/node-http.ts'
import { isFieldsOnly } from '../../base/records.ts'
import {
  type LogWords,
  type MetricName,
  type MetricWords,
  type RefusalKind,
  type RefusalWords,
  STATUS_LABEL,
  type Wording,
} from '../../base/wording.ts'
import { defineOptions, type Kind, option } from '../kit/define.ts'
import { value } from '../kit/kinds.ts'
import { at, fieldPath, unknownField, type Wrong } from '../kit/wrong.ts'

/**
 * The given parts of a refusal; the others stay as they are; with a `body` or a `contentType`,
 * `json` goes.
 */
export type RefusalOptions = { readonly [K in keyof RefusalWords]?: RefusalWords[K] | undefined }

/**
 * Words of your own; whatever is not given is neutral. A whole {@link Wording}, such as
 * `apiserverWording` of `@quiesce/apiserver`, is one of these.
 */
export interface WordingOptions {
  /** What the server calls itself to clients and in the log. Default `the server`. */
  readonly name?: string | undefined
  /** All refused requests, of every kind. */
  readonly refusal?: RefusalOptions | undefined
  /** The refusals of one kind. They come before `refusal`. */
  readonly refusals?: { readonly [K in RefusalKind]?: RefusalOptions | undefined } | undefined
  readonly log?: { readonly [K in keyof LogWords]?: string | undefined } | undefined
  readonly metrics?: MetricOptions | undefined
}

interface MetricOptions extends NamesOptions {
  /** The start of the names that are not given. Default `quiesce_`. */
  readonly prefix?: string | undefined
  readonly requests?: { readonly [K in keyof MetricWords['requests']]?: MetricWords['requests'][K] | undefined } | undefined
}

type NamesOptions = { readonly [K in Exclude<keyof MetricWords, 'requests'>]?: NameOptions | undefined }
type NameOptions = { readonly [K in keyof MetricName]?: string | undefined }

/**
 * All words, those that are given and the neutral ones. What is given has no {@link
 * wordingProblem}.
 */
export function resolveWording({ name, refusal = {}, refusals = {}, log = {}, metrics = {} }: WordingOptions = {}): Wording {
  const { prefix, ...names } = metrics
  const neutral = neutralWording(name, prefix)
  return {
    refusals: mapped(neutral.refusals, (words, kind) => refusalOf(refusalOf(words, refusal), refusals[kind] ?? {})),
    log: over(neutral.log, log),
    metrics: mapped(neutral.metrics, (words, metric) => over(words, names[metric])) as unknown as MetricWords,
  }
}

function refusalOf(words: RefusalWords, given: RefusalOptions): RefusalWords {
  const isOwn = given.body !== undefined || given.contentType !== undefined
  return over(isOwn ? { ...words, json: undefined } : words, given)
}

const mapped = <K extends string, V>(record: Readonly<Record<K, V>>, change: (value: V, key: K) => V): Record<K, V> =>
  Object.fromEntries(Object.entries<V>(record).map(([key, value]) => [key, change(value, key as K)])) as Record<K, V>

/** `words` with the fields that are given. */
const over = <T extends object>(words: T, given: { readonly [K in keyof T]?: T[K] | undefined } = {}): T => ({
  ...words,
  ...Object.fromEntries(Object.entries(given).filter(([, field]) => field !== undefined)),
})

/** What is wrong with a value, or undefined; fields of objects come with their path. */
type Rule = (given: unknown) => Wrong | undefined
const rule =
  (allowed: string, accepts: (given: unknown) => boolean): Rule =>
  (given) =>
    accepts(given) ? undefined : { path: '', given, allowed }

const object =
  (fields: Readonly<Record<string, Rule>>): Rule =>
  (given) => {
    if (!isFieldsOnly(given)) return { path: '', given, allowed: 'an object' }
    const unknown = Object.keys(given).find((name) => given[name] !== undefined && !Object.hasOwn(fields, name))
    if (unknown !== undefined) return unknownField(unknown, given[unknown], Object.keys(fields))
    return firstProblem(given, (name) => fields[name] as Rule)
  }

function firstProblem(given: object, ruleOf: (name: string) => Rule): Wrong | undefined {
  for (const [name, field] of Object.entries(given)) {
    const problem = field === undefined ? undefined : ruleOf(name)(field)
    if (problem !== undefined) return at(fieldPath(name), problem)
  }
  return undefined
}

const matching = (allowed: string, pattern: RegExp): Rule => rule(allowed, (given) => typeof given === 'string' && pattern.test(given))

/** No line breaks: one line of a log, of a header, of a metrics page. */
const line = matching('text in one line', /^[^\p{Cc}]+$/u)
const bodyText = rule('text', (given) => typeof given === 'string')
const metricName = matching('letters, digits, _ and :, not beginning with a digit', /^[a-z_:][\w:]*$/i)
const labelName = matching('letters, digits and _, not beginning with a digit', /^[a-z_]\w*$/i)

/** Headers of every refusal, which cannot be given. */
const SET_HEADERS = ['connection', 'content-length', 'content-type', 'retry-after', 'transfer-encoding']

const isHeader = (name: string, given: unknown): boolean => {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, given as string)
    return typeof given === 'string'
  } catch {
    // Its message says no more than ours.
    return false
  }
}
const headerValue = (name: string): Rule =>
  SET_HEADERS.includes(name.toLowerCase())
    ? (given) => ({ path: '', given, allowed: 'no', words: 'is set already; contentType and retryAfterSeconds are fields of their own' })
    : rule('text of a header', (given) => isHeader(name, given))
const noTexts = (given: unknown): Wrong => ({ path: '', given, allowed: 'an object of texts' })
const refusalHeaders: Rule = (given) => (isFieldsOnly(given) ? firstProblem(given, headerValue) : noTexts(given))
const metricLabels: Rule = (given) =>
  isFieldsOnly(given) ? firstProblem(given, (name) => (value) => labelName(name) ?? bodyText(value)) : noTexts(given)
const contentType = rule('a content type', (given) => isHeader('Content-Type', given) && (given as string).includes('/'))

/** Complete: the type of the other body would be the wrong one for this. */
const JSON_WORDS = { body: bodyText, contentType }
const json: Rule = (given) => {
  const missing = Object.keys(JSON_WORDS).find((name) => isFieldsOnly(given) && given[name] === undefined)
  return object(JSON_WORDS)(given) ?? (missing === undefined ? undefined : { path: `.${missing}`, given: undefined, allowed: 'text' })
}

const refusal = object({
  body: rule('text, or a function of the refused request', (given) => typeof given === 'string' || typeof given === 'function'),
  contentType,
  json,
  retryAfterSeconds: rule('an integer from 0 to 86400, or false', (given) => given === false || isSeconds(given)),
  headers: refusalHeaders,
})
const isSeconds = (given: unknown): boolean => Number.isInteger(given) && (given as number) >= 0 && (given as number) <= 86_400

const NEUTRAL = neutralWording()
const METRICS = Object.keys(NEUTRAL.metrics) as (keyof MetricWords)[]
const ofEach = (record: object, its: Rule): Rule => object(Object.fromEntries(Object.keys(record).map((name) => [name, its])))
const metric = { name: metricName, help: line }
const rules = object({
  name: line,
  refusal,
  refusals: ofEach(NEUTRAL.refusals, refusal),
  log: ofEach(NEUTRAL.log, line),
  metrics: object({
    ...Object.fromEntries(METRICS.map((each) => [each, object(metric)])),
    prefix: metricName,
    requests: object({ ...metric, pathLabel: labelName, labels: metricLabels }),
  }),
})

/** What a scraper would refuse, or would read as one of two. */
function metricClash(given: WordingOptions): Wrong | undefined {
  const { metrics } = given
  const words = resolveWording(given).metrics
  const { requests } = words
  const names = Object.fromEntries(METRICS.map((each) => [each, words[each].name])) as Record<keyof MetricWords, string>
  for (const its of METRICS.filter((each) => metrics?.[each]?.name !== undefined)) {
    const other = METRICS.find((each) => each !== its && names[each] === names[its])
    if (other) return { path: `.metrics.${its}.name`, given: names[its], allowed: `a name of its own; it is that of ${other}` }
  }
  const { pathLabel, labels } = requests
  if (pathLabel === STATUS_LABEL)
    return { path: '.metrics.requests.pathLabel', given: pathLabel, allowed: 'a label of its own; it is that of the status' }
  const taken = [STATUS_LABEL, pathLabel].find((label) => Object.hasOwn(labels, label))
  const what = taken === STATUS_LABEL ? 'the status' : 'the path'
  if (taken === undefined) return undefined
  return { path: `.metrics.requests.labels.${taken}`, given: taken, allowed: `a label of its own; it is that of ${what}` }
}

const wordingProblem: Rule = (given) => rules(given) ?? metricClash(given as WordingOptions)

/** The name of the words of Kubernetes' API server, which are those of another package. */
export const UPSTREAM_WORDING = 'upstream'

/**
 * What clients, the log and the metrics read; on a command line, by name.
 * @param upstream the words of that name, for who has them
 */
export function wording(upstream?: WordingOptions): Kind<WordingOptions, Wording, 'value'> {
  const named = new Map([['plain', {}], ...(upstream ? ([[UPSTREAM_WORDING, upstream]] as const) : [])])
  return {
    ...value<WordingOptions>('{ name, refusal, refusals, log, metrics }', (given) => wordingProblem(given) === undefined),
    wrong: wordingProblem,
    resolve: resolveWording,
    show: () => `neutral words; metrics begin with ${METRIC_PREFIX_DEFAULT}`,
    choices: ['plain', UPSTREAM_WORDING],
    placeholder: `plain|${UPSTREAM_WORDING}`,
    allowedAsText: upstream ? `plain, ${UPSTREAM_WORDING}` : `plain, or ${UPSTREAM_WORDING} where @quiesce/apiserver is installed`,
    // In a config file it may be an object.
    fromText: (given) => (typeof given === 'string' ? named.get(given) : given),
  }
}

/** The words themselves. */
export const WORDING_OPTIONS = defineOptions({
  /**
   * What clients, the log and the metrics read. `{ name: 'orders' }` is enough to give the server
   * its name.
   * @default neutral words; metrics begin with quiesce_
   */
  wording: option(wording(), {
    flag: 'wording',
    default: {},
    meaning: "Words for clients, log and metrics: the server's own name, or any of them by itself",
  }),
})
