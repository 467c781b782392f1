import { type AuthorizationAttributes, type Authorizer, checkedDecision } from '../authorization/authorizer.ts'
import { checkArguments, show, systemClock, toError, withFields, withOptions } from '../engine.ts'
import { askedOf } from './asked-of.ts'

export interface AuthorizerFaultsOptions {
  /** Questions of your own, beside those that every authorizer has to answer. */
  readonly asked?: readonly AuthorizationAttributes[]
  /** Real milliseconds in which each has to be answered. Default 5000. */
  readonly withinMs?: number
}

/**
 * What an authorizer does that its contract does not let it: a line for each question that finds a
 * fault; none when it keeps to it. Every question has to be answered with a decision, in time, the
 * same one when it is asked again and beside others, and without being changed. When its request is
 * not waited for any more, it has to be answered in time, too, with whatever.
 *
 * Asked are requests as they come from clients who mean no good: without a user, with empty and
 * with very long texts, with names that every object has. Which of them it allows is not judged.
 * One that has `open()` has to be opened before.
 * @example
 * expect(await authorizerFaults(myAuthorizer)).toEqual([])
 */
export async function authorizerFaults(authorizer: Authorizer, options: AuthorizerFaultsOptions = {}): Promise<readonly string[]> {
  checkArguments(
    'authorizerFaults(authorizer, options?)',
    [authorizer, withFields('an object with authorize(attributes, context)', 'authorize')],
    [options, withOptions<AuthorizerFaultsOptions>('asked', 'withinMs')],
  )
  const { asked = [], withinMs = 5_000 } = options
  const questions = [...ODD_QUESTIONS, ...asked]
  const ask = (question: AuthorizationAttributes, signal: AbortSignal): Promise<Outcome> =>
    inTime(withinMs, async () => checkedDecision(await authorizer.authorize(frozen(structuredClone(question)), { signal })).decision)
  const waiting = new AbortController().signal
  const askAll = (): Promise<readonly Outcome[]> => Promise.all(questions.map((question) => ask(question, waiting)))
  const [first, again] = [await askAll(), await askAll()]
  const faults = questions.flatMap((question, index) => {
    const [one, other] = [first[index], again[index]] as [Outcome, Outcome]
    const fault = [one, other].find((outcome) => typeof outcome === 'object')
    if (fault) return [`${named(question)}: ${fault.fault}`]
    return one === other ? [] : [`${named(question)}: ${String(one)}, and when it was asked a second time ${String(other)}`]
  })
  const ended = await ask(ODD_QUESTIONS[0] as AuthorizationAttributes, AbortSignal.abort(new Error('it is not waited for')))
  return typeof ended === 'object' && ended.isLate ? [...faults, `with its signal aborted: ${ended.fault}`] : faults
}

type Outcome = string | { readonly fault: string; readonly isLate: boolean }

function inTime(ms: number, decide: () => Promise<string>): Promise<Outcome> {
  return new Promise((resolve) => {
    const timer = systemClock.setTimeout(() => resolve({ fault: `no answer within ${ms}ms`, isLate: true }), ms)
    const settle = (outcome: Outcome): void => {
      systemClock.clearTimeout(timer)
      resolve(outcome)
    }
    decide().then(settle, (thrown: unknown) => settle({ fault: toError(thrown).message, isLate: false }))
  })
}

const PATH = askedOf({ user: { name: 'someone', groups: ['system:authenticated'], extra: {} } })
const RESOURCE: AuthorizationAttributes = {
  ...PATH,
  isResourceRequest: true,
  path: '/apis/apps/v1/namespaces/default/deployments/one',
  apiGroup: 'apps',
  apiVersion: 'v1',
  namespace: 'default',
  resource: 'deployments',
  name: 'one',
}
const userOf = (name: string, ...groups: readonly string[]) => ({ name, groups, extra: {} })
const LONG = 'x'.repeat(65_536)
/** Look-ups in an object that was not made for look-ups find something under these. */
const OF_EVERY_OBJECT = ['__proto__', 'constructor', 'toString']

const ODD_QUESTIONS: readonly AuthorizationAttributes[] = [
  PATH,
  RESOURCE,
  { ...PATH, user: undefined },
  { ...RESOURCE, user: undefined },
  { ...PATH, user: userOf(''), verb: '', path: '' },
  { ...RESOURCE, apiGroup: '', apiVersion: '', namespace: '', resource: '', name: '', verb: '' },
  { ...PATH, path: '*', verb: 'options' },
  { ...PATH, path: '/a/../b//%2e%2e/\\\0\n\u{1F600}\uD800' },
  { ...PATH, path: `/${LONG}` },
  { ...RESOURCE, name: LONG, namespace: LONG, subresource: LONG },
  { ...PATH, user: userOf(LONG, ...Array.from({ length: 1_000 }, (_, at) => `group-${at}`)) },
  ...OF_EVERY_OBJECT.flatMap((name) => [
    { ...PATH, user: userOf(name, name), verb: name, path: name },
    { ...RESOURCE, user: userOf(name, name), verb: name, apiGroup: name, namespace: name, resource: name, subresource: name, name },
  ]),
  {
    ...RESOURCE,
    verb: 'list',
    name: '',
    fieldSelector: [{ key: 'metadata.name', operator: 'In', values: [''] }],
    labelSelector: [{ key: 'a', operator: 'Exists', values: [] }],
  },
]

/** The same value, which throws when it is changed. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const each of Object.values(value)) frozen(each)
  return Object.freeze(value)
}

function named({ user, verb, isResourceRequest, path, apiGroup, resource, name }: AuthorizationAttributes): string {
  const what = isResourceRequest ? `${apiGroup}/${resource} ${show(name)}` : show(path)
  const line = `${user === undefined ? 'no user' : show(user.name)}: ${verb} ${what}`
  return line.length > LINE_MAX ? `${line.slice(0, LINE_MAX)}…` : line
}

const LINE_MAX = 200
