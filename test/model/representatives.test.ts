// Three post-start hooks or mux-complete signals that end in their order stand for ten that end in
// any, and so do pre-shutdown hooks and phases in one place, all of them: whatever those can do,
// these can do under other names.
// Fails when: the rest of a life sees more of a hook than whether one has failed and one still
// runs, so that a life with many hooks would be checked by one that is unlike it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type ActorState, type Choice, type Effect, Model } from '#model'
import { composeLifecycle, type LifePlan } from '#src/machines/lifecycle.ts'
import { factOf } from '#src/model/life/facts.ts'
import { environmentOf } from '#src/model/life/lifecycle-model.ts'
import { alikeIn, REPRESENTATIVES, withRepresentatives } from '#src/model/life/representatives.ts'
import { PROFILES } from '../support/fake-effects.ts'

const MODES = ['refuse', 'retry-after'] as const
const HOOKS = 10

/** What there are many of in a life. */
type Many = (names: readonly string[]) => Omit<Partial<LifePlan>, 'input'> & { readonly input?: Partial<LifePlan['input']> }
const timeoutMs = 1_000
const postStartHooks: Many = (names) => ({ postStartHooks: names.map((name) => ({ kind: 'post-start', name, timeoutMs })) })
const KINDS: Readonly<Record<string, Many>> = {
  'post-start hooks': postStartHooks,
  'mux-complete signals': (names) => ({ muxSignals: names }),
  'pre-shutdown hooks side by side': (names) => ({
    input: { preShutdownHooks: names.map((name) => ({ kind: 'pre-shutdown', name, timeoutMs, after: [] })) },
  }),
  'phases side by side': (names) => ({
    userPhases: names.map((name) => ({ name, after: ['InFlightRequestsDrained'], before: [], timeoutMs })),
  }),
}

function planWith(mode: LifePlan['mode'], hooks: number, many = postStartHooks): LifePlan {
  const { input, ...parts } = many(Array.from({ length: hooks }, (_, i) => `hook-${i}`))
  return {
    mode,
    ...parts,
    input: {
      profiles: PROFILES,
      notifyClients: 'gradual',
      connectionTimeoutMs: 1_000,
      preShutdownHooks: [],
      destroyFunctions: [],
      destroyOrder: 'registration',
      ...input,
    },
  }
}

const modelOf = (plan: LifePlan): Model => {
  const { input, events, children, alike } = environmentOf(plan, {})
  return new Model(composeLifecycle(plan), { input, events, children, alike }, 0)
}

interface Step {
  /** What happens: the same text for the same thing in both lives. */
  readonly taken: string
  /** The hook that it happens to. */
  readonly hook: string | undefined
  readonly fails: boolean
  readonly said: readonly string[]
  /** What may happen next. */
  readonly next: readonly string[]
}

const hookIn = (text: string): string | undefined => /hook-\d+/.exec(text)?.[0]
const textOf = ({ kind, path, event, label }: Choice): string => `${kind} ${path.text} ${event.type} ${label}`
const saidIn = (effects: readonly Effect[]): string[] =>
  effects.map((effect) => JSON.stringify(factOf(effect) ?? effect.type).replace(/Hook(\d)Done/g, 'hook-$1 done'))
const stepOf = (taken: string, effects: readonly Effect[], next: readonly Choice[]): Step => ({
  taken,
  hook: hookIn(taken),
  fails: /xstate\.error\.| sends failed|hookTimeout/.test(taken),
  said: saidIn(effects),
  next: next.map(textOf).sort(),
})

/** A way through a life: which of the things that may happen does is up to `decide`. */
function way(model: Model, decide: (choices: readonly Choice[]) => Choice | undefined): Step[] {
  const start = model.start()
  let at: ActorState = start.freeze()
  let choices = model.choices.at(at)
  const steps = [stepOf('', start.effects, choices)]
  for (let choice = decide(choices); choice; choice = decide(choices)) {
    const taken = model.take(at, choice)
    at = taken.freeze()
    choices = model.choices.at(at)
    steps.push(stepOf(textOf(choice), taken.effects, choices))
  }
  return steps
}

/**
 * The hook that is looked at; of the others, the first to fail, and the last to end: in the order
 * in which they end, with those that do not behind.
 */
function witnesses(steps: readonly Step[], observed: string): string[] {
  const ends = steps.flatMap(({ hook, fails }) => (hook === undefined || hook === observed ? [] : [{ hook, fails }]))
  const chosen = new Set([observed])
  const first = ends.find(({ fails }) => fails)
  if (first) chosen.add(first.hook)
  const names = Array.from({ length: HOOKS }, (_, i) => `hook-${i}`)
  const lasting = names.find((name) => !chosen.has(name) && !ends.some(({ hook }) => hook === name))
  const last = lasting ?? ends.findLast(({ hook }) => !chosen.has(hook))?.hook
  if (last !== undefined) chosen.add(last)
  for (const name of names) if (chosen.size < REPRESENTATIVES) chosen.add(name)
  const ended = steps.flatMap(({ hook }) => (hook !== undefined && chosen.has(hook) ? [hook] : []))
  return [...new Set([...ended, ...chosen])]
}

/** All of them, in the order in which they end. */
const allOf = (steps: readonly Step[]): string[] => [
  ...new Set([...steps.flatMap(({ hook }) => hook ?? []), ...Array.from({ length: HOOKS }, (_, i) => `hook-${i}`)]),
]

/** The way of ten as three of them see it, under the names of the three. */
function seenBy(steps: readonly Step[], names: readonly string[]): Step[] {
  const isSeen = (text: string): boolean => {
    const hook = hookIn(text)
    return hook === undefined || names.includes(hook)
  }
  const renamed = (text: string): string => text.replace(/hook-\d+/g, (name) => `hook-${names.indexOf(name)}`)
  return steps.map(({ taken, hook, fails, said, next }) => ({
    taken: isSeen(taken) ? renamed(taken) : 'unseen',
    hook,
    fails,
    said: said.filter(isSeen).map(renamed),
    next: inTheirOrder(next.filter(isSeen).map(renamed)),
  }))
}

/** Without the ends of hooks that have to wait for the end of another. */
function inTheirOrder(next: readonly string[]): string[] {
  const first = next.flatMap((text) => hookIn(text) ?? []).sort()[0]
  return next.filter((text) => [undefined, first].includes(hookIn(text))).sort()
}

/** Other names change the order in which several hooks are named in one step, and nothing else. */
function comparable({ taken, said, next }: Step) {
  const hooks = said.filter((text) => hookIn(text) !== undefined).sort()
  return { taken, said: said.map((text) => (hookIn(text) === undefined ? text : hooks.shift())), next }
}

const CASES = Object.entries(KINDS).flatMap(([kind, many]) => MODES.map((mode) => [kind, mode, many] as const))

test.each(CASES)('what ten %s do is what fewer do in one order (%s)', (_, mode, many) => {
  const plan = planWith(mode, HOOKS, many)
  const [ten, fewer] = [modelOf(plan), modelOf(withRepresentatives(plan))]
  const isRepresented = plan.postStartHooks !== undefined || plan.muxSignals !== undefined
  const lives = { failed: 0, whole: 0 }
  fc.assert(
    fc.property(
      fc.array(fc.nat(), { minLength: 20, maxLength: 120 }),
      fc.nat(HOOKS - 1),
      // All ends well; that of hooks too, or not; anything.
      fc.constantFrom(
        /^(xstate\.done\.|complete$)/,
        /^(xstate\.(done|error\.actor\.(post-start-hook:|run-hook))|complete$|failed$)/,
        undefined,
      ),
      (decisions, observed, favoured) => {
        let i = 0
        const steps = way(ten, (choices) => {
          // The life starts, and is not over before its hooks have had time.
          const decision = decisions[i++]
          if (decision === undefined) return undefined
          if (i === 1) return choices.find(({ event }) => event.type === 'start') ?? choices[0]
          const ends = choices.filter(
            ({ kind, event }) => (kind === 'outcome' || kind === 'message') && favoured?.test(event.type) === true,
          )
          const likely = ends.length > 0 && decision % 16 > 0 ? ends : choices
          return likely[decision % likely.length]
        })
        if (new Set(steps.flatMap(({ hook }) => hook ?? [])).size === HOOKS) lives.whole++
        if (steps.filter(({ hook, fails }) => hook !== undefined && fails).length > 1) lives.failed++
        const seen = seenBy(steps, isRepresented ? witnesses(steps, `hook-${observed}`) : allOf(steps))
        // What happens to the others is not seen at all.
        for (const { taken, said } of seen) if (taken === 'unseen') expect(said).toEqual([])
        const expected = seen.filter(({ taken }) => taken !== 'unseen')
        let next = 0
        const taken = way(fewer, (choices) => {
          const wanted = expected[++next]
          if (wanted === undefined) return undefined
          const choice = choices.find((choice) => textOf(choice) === wanted.taken)
          expect(choice?.label ?? `fewer cannot: ${wanted.taken}`).toBe(choice?.label)
          return choice
        })
        expect(taken.map(comparable)).toEqual(expected.map(comparable))
      },
    ),
    { numRuns: 150 },
  )

  expect(lives.failed).toBeGreaterThan(0)
  expect(lives.whole).toBeGreaterThan(0)
})

test('hooks in other places end in any order', () => {
  const hook = (name: string, after: readonly string[] = [], timeoutMs = 1_000) =>
    ({ kind: 'pre-shutdown', name, timeoutMs, after }) as const
  const phase = (name: string, after: readonly string[], before: readonly string[] = []) => ({ name, after, before, timeoutMs })
  const plan = planWith('refuse', 0, () => ({
    userPhases: [
      phase('a', ['Serving']),
      phase('b', ['Serving']),
      phase('c', ['Serving'], ['report']),
      phase('d', ['Serving']),
      phase('e', ['DDone']),
      phase('f', ['Serving', 'Bound']),
      phase('g', ['Bound', 'Serving', 'Bound']),
    ],
    input: { preShutdownHooks: [hook('1'), hook('2'), hook('3', ['1']), hook('4', [], 5), hook('5'), hook('6', ['1'])] },
  }))
  expect(alikeIn(plan).filter((paths) => paths.length > 1)).toEqual([
    ['a', 'b'],
    ['f', 'g'],
    ['pre-shutdown-hooks/pre-shutdown-hook:2', 'pre-shutdown-hooks/pre-shutdown-hook:5'],
    ['pre-shutdown-hooks/pre-shutdown-hook:3', 'pre-shutdown-hooks/pre-shutdown-hook:6'],
  ])
})

test('a phase that is named like the path of a hook is told apart from it', () => {
  const path = 'pre-shutdown-hooks/pre-shutdown-hook:hook-0'
  const plan = planWith('refuse', 2, (names) => ({
    ...KINDS['pre-shutdown hooks side by side']?.(names),
    userPhases: [{ name: path, after: ['Serving'], before: ['report'], timeoutMs }],
  }))
  expect(alikeIn(plan).flat()).toEqual(['pre-shutdown-hooks/pre-shutdown-hook:hook-1'])
})

test('a life with few hooks is checked with all of them', () => {
  const names = (hooks: number) => withRepresentatives(planWith('refuse', hooks)).postStartHooks?.map(({ name }) => name)
  expect(names(2)).toEqual(['hook-0', 'hook-1'])
  expect(names(HOOKS)).toEqual(['hook-0', 'hook-1', 'hook-2'])
})
