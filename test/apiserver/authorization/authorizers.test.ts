// Fails when: an authorizer that comes with the server allows more, or less, than upstream's of the
// same name, or a union asks in another order or forgets what one of them has said.
import { describe, expect, test } from 'vitest'
import { parseFieldSelector, parseLabelSelector } from '#apiserver/authorization/selectors.ts'
import {
  type Authorizer,
  allowedPaths,
  alwaysAllow,
  alwaysDeny,
  completeConfig,
  type Decision,
  privilegedGroups,
  unionAuthorizer,
} from '#apiserver/index.ts'
import { askedOf } from '#apiserver/testing/asked-of.ts'
import { RecordingAuthorizer } from '#apiserver/testing/index.ts'
import { VirtualClock } from '#src/testing/index.ts'
import { CONTEXT, userOf } from './users.ts'

const decide = async (authorizer: Authorizer, asked: Parameters<typeof askedOf>[0] = {}): Promise<Decision> =>
  authorizer.authorize(askedOf(asked), CONTEXT)

test('always allow, and never', async () => {
  expect(await decide(alwaysAllow())).toEqual({ decision: 'allow' })
  expect(await decide(alwaysDeny())).toEqual({ decision: 'no-opinion', reason: 'Everything is forbidden.' })
})

test('privileged groups are those of the user, exactly', async () => {
  const authorizer = privilegedGroups('system:masters', 'ops')
  const of = async (...groups: string[]) => (await decide(authorizer, { user: userOf('a', ...groups) })).decision
  expect(await of('x', 'ops')).toBe('allow')
  expect(await of('system:masters')).toBe('allow')
  for (const group of ['system:master', 'System:masters', 'op', 'ops ', '']) expect(await of(group)).toBe('no-opinion')
  expect(await of()).toBe('no-opinion')
  expect((await decide(authorizer, { user: undefined })).decision).toBe('no-opinion')
})

describe('paths that are always allowed', () => {
  const allowed = async (patterns: readonly string[], path: string, isResourceRequest = false) =>
    (await decide(allowedPaths(...patterns), { path, isResourceRequest })).decision === 'allow'

  test.each<[string[], string[], string[]]>([
    [['/healthz'], ['/healthz', 'healthz'], ['/healthz/', '/healthz/ping', '/healthzz', '/', '', '//healthz']],
    [['healthz'], ['/healthz'], ['/healthz/ping']],
    [['/docs/*'], ['/docs/', '/docs/a/b'], ['/docs', '/docsx', '/']],
    [['/docs*'], ['/docs', '/docsx', '/docs/a'], ['/doc', '/x/docs']],
    [['*'], ['/', '', '/anything'], []],
    [['/*'], ['/', '/anything'], []],
    [['/'], ['/', ''], ['/a']],
    [[], [], ['/', '/healthz']],
  ])('%j', async (patterns, yes, no) => {
    for (const path of yes) expect([path, await allowed(patterns, path)]).toEqual([path, true])
    for (const path of no) expect([path, await allowed(patterns, path)]).toEqual([path, false])
    for (const path of yes) expect(await allowed(patterns, path, true)).toBe(false)
  })

  test.each(['/a*b', '*/a', '/**'])('a star that is not at the end is refused: %s', (path) => {
    const message = `got ${JSON.stringify(path)}, allowed: a list of paths; * may stand at the end of one`
    expect(() => allowedPaths(path)).toThrow(`allowedPaths: ${message}`)
    expect(() => completeConfig({ authorizationAlwaysAllowPaths: [path] })).toThrow(`authorizationAlwaysAllowPaths[0]: ${message}`)
  })
})

describe('a union', () => {
  const of = (...answers: readonly (Decision['decision'] | Decision | Error)[]) => {
    const all = answers.map((answer) => new RecordingAuthorizer(answer))
    return { all, union: unionAuthorizer(...all), asked: () => all.map(({ asked }) => asked.length) }
  }

  test.each(['allow', 'deny'] as const)('ends with the first that says %s', async (decision) => {
    const { union, asked } = of('no-opinion', { decision, reason: 'because' }, 'allow', 'deny')
    expect(await decide(union)).toEqual({ decision, reason: 'because' })
    expect(asked()).toEqual([1, 1, 0, 0])
  })

  test('has no opinion when none has, for the reasons and errors of all', async () => {
    const { union } = of({ decision: 'no-opinion', reason: 'a' }, new Error('broken'), 'no-opinion', {
      decision: 'no-opinion',
      reason: 'b',
      error: new Error('worse'),
    })
    expect(await decide(union)).toMatchObject({ decision: 'no-opinion', reason: 'a\nb', error: { message: '[broken, worse]' } })
    expect(await decide(of(new Error('same'), new Error('same')).union)).toMatchObject({ error: { message: 'same' } })
    expect(await decide(of('no-opinion', 'no-opinion').union)).toEqual({ decision: 'no-opinion' })
    const named = Object.assign(new RecordingAuthorizer({ decision: 'no-opinion', reason: 'closed' }), { name: 'office' })
    const silent = Object.assign(new RecordingAuthorizer('no-opinion'), { name: 'silent' })
    expect((await decide(unionAuthorizer(named, silent, alwaysDeny()))).reason).toBe('office: closed\nEverything is forbidden.')
    const denying = Object.assign(new RecordingAuthorizer({ decision: 'deny', reason: 'closed' }), { name: 'office' })
    expect((await decide(unionAuthorizer(silent, denying))).reason).toBe('closed')
    expect(await decide(of().union)).toEqual({ decision: 'no-opinion' })
  })

  test('goes on behind one that fails, and keeps an error beside a decision', async () => {
    expect(await decide(of(new Error('broken'), 'allow').union)).toEqual({ decision: 'allow' })
    const error = new Error('on the way')
    expect(await decide(of('no-opinion', { decision: 'deny', error }, 'allow').union)).toEqual({ decision: 'deny', error })
  })

  test('waits for one that takes time before it asks the next', async () => {
    const { union, all, asked } = of('no-opinion', 'no-opinion', 'allow')
    all[1]?.hold()
    const decided = decide(union)
    expect(asked()).toEqual([1, 1, 0])
    all[1]?.release()
    expect(await decided).toEqual({ decision: 'allow' })
    expect(asked()).toEqual([1, 1, 1])
  })

  test('opens and closes all; one that cannot be opened has the others closed', async () => {
    const said: string[] = []
    const living = (name: string, fails = false): Authorizer => ({
      authorize: () => ({ decision: 'allow' }),
      open: async () => {
        said.push(`open ${name}`)
        if (fails) throw new Error('no')
      },
      close: () => void said.push(`close ${name}`),
    })
    const world = { clock: new VirtualClock(), random: () => 0, failed: () => {}, warn: () => {} }
    const union = unionAuthorizer(living('a'), alwaysDeny(), living('b'))
    await union.open?.(world)
    union.close?.()
    await expect(Promise.resolve(unionAuthorizer(living('c'), living('d', true), living('e')).open?.(world))).rejects.toThrow('no')
    expect(said).toEqual(['open a', 'open b', 'close a', 'close b', 'open c', 'open d', 'close c'])
  })
})

describe('selectors are read as upstream reads them', () => {
  const conditions = (all: ReturnType<typeof parseFieldSelector>) =>
    all?.map(({ key, operator, values }) => [key, operator, ...values].join(' ')) ?? 'none'

  test.each([
    ['metadata.name=a', ['metadata.name In a']],
    ['a==b,c!=d', ['a In b', 'c NotIn d']],
    ['a=', ['a In ']],
    [String.raw`a=x\,y\=z\\`, [String.raw`a In x,y=z\ `.trim()]],
    [',a=b,,', ['a In b']],
    ['a', 'none'],
    ['a=b=c', 'none'],
    [String.raw`a=b\c`, 'none'],
    ['a=b\\', 'none'],
    ['', 'none'],
  ])('of fields: %s', (text, expected) => {
    expect(conditions(parseFieldSelector(text))).toEqual(expected)
  })

  test.each([
    ['app=a', ['app In a']],
    ['app == a, tier!=b', ['app In a', 'tier NotIn b']],
    ['x.io/app in (b, a,a)', ['x.io/app In a b']],
    ['app notin (a)', ['app NotIn a']],
    ['app,!old, ! older', ['app Exists', 'old DoesNotExist', 'older DoesNotExist']],
    ['in in (in)', ['in In in']],
    ['app=', ['app In ']],
    ['app in ()', ['app In ']],
    ['n>1', 'none'],
    ['app=a b', 'none'],
    ['app=a;b', 'none'],
    ['-app', 'none'],
    ['app in (a', 'none'],
    ['app in (a/b)', 'none'],
    ['=a', 'none'],
    ['', 'none'],
  ])('of labels: %s', (text, expected) => {
    expect(conditions(parseLabelSelector(text))).toEqual(expected)
  })
})

test('options of authorization that do not fit together are told all at once', () => {
  expect(() => completeConfig({ authorizationMode: ['RBAC'], authorizer: {} as Authorizer })).toThrow(
    'authorizer: got {}, allowed: an object with authorize(attributes, context)\n' +
      'authorizationRbacFile: got undefined, allowed: one beside authorizationMode RBAC',
  )
  expect(() => completeConfig({ authorizationMode: ['AlwaysDeny'], authorizationRbacFile: 'a' })).toThrow(
    'authorizationRbacFile: got "a", allowed: none without authorizationMode RBAC',
  )
})
