// Fails when: a mistake in the checker itself, made here in a copy of its sources, is seen by none
// of the questions below, which have known answers.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Placed, sourcesOfModel } from './placed.ts'

/** What is edited where; the text stands there once. */
const MUTANTS: Readonly<Record<string, readonly [file: string, text: string, instead: string]>> = {
  'no property is asked': [
    'properties/property.ts',
    'const found = ask(() => property.violation(exploration))',
    'const found = undefined as never',
  ],
  'the first property alone is asked': ['properties/property.ts', 'properties.map((property)', 'properties.slice(0, 1).map((property)'],
  'no event is sent': ['engine/choice.ts', 'const choices = [...this.#external(root)]', 'const choices: Choice[] = []'],
  'no timer is due': ['engine/choice.ts', 'if (timer !== previous)', 'if (timer === null)'],
  'no child says anything': ['engine/choice.ts', 'for (const object of sends)', 'for (const object of sends.slice(0, 0))'],
  'a child of any kind is a promise': ['engine/internals.ts', "if (start === undefined) return 'transition'", "return 'promise'"],
  'a callback is a promise': ['engine/internals.ts', "? 'event observable' : 'callback'", "? 'event observable' : 'promise'"],
  'a transition function ends': [
    'engine/internals.ts',
    "if (start === undefined) return 'transition'",
    "if (start === undefined) return 'observable'",
  ],
  'a child never fails': ['engine/environment.ts', 'promise: { outcomes: [resolves(), rejects()]', 'promise: { outcomes: [resolves()]'],
  'changes in place go unseen': ['engine/canonical.ts', 'return after === before ?', 'return after !== undefined ?'],
  'vacuous is what holds': ['properties/property.ts', 'holds: property.mayBeVacuous === true, vacuous', 'holds: true, vacuous'],
  'nothing is vacuous': ['properties/property.ts', 'property.vacuous?.(exploration)', 'undefined'],
  'what changes nothing is a way on': [
    'properties/safety.ts',
    'if (graph.to(edge) !== state || graph.effects(edge).length > 0) return true',
    'return true',
  ],
  'what is said is no way on': ['properties/safety.ts', '|| graph.effects(edge).length > 0', ''],
  'no step is computed twice': ['engine/step.ts', 'if (haveBothFailed ||', 'if (step ||'],
  'chance is let pass': ['engine/purely.ts', 'if (!current) return', 'if (current || !current) return'],
  'unheard events are taken': [
    'engine/environment.ts',
    'if (machine === undefined || hears(machine, type)) return',
    'if (machine ?? type) return',
  ],
  'unknown children are taken': ['engine/given.ts', 'if (!known.has(name))', 'if (name.length === 0)'],
  'unknown states are taken': ['engine/vocabulary.ts', 'if (states.has(value)) return', 'if (states) return'],
  'unknown names are taken': ['engine/said.ts', 'if (!sayable.has(name))', 'if (name.length === 0)'],
  'unknown options are taken': ['options.ts', 'if (unknown === undefined) return', 'if (given) return'],
  'unknown keys of a context are taken': ['engine/context-keys.ts', '!isSlip(key, this.known)', 'this'],
  'unknown regions are taken': ['engine/named.ts', 'if (!Object.hasOwn(node.states, key))', 'if (key.length === 0)'],
}

/** Each answers with a text, the same for the same checker. */
const PROGRAM = `import { assign, createMachine, fromCallback, fromPromise, fromTransition, setup } from 'xstate'
import { always, check, explore, inOrder, noDeadlock, noErrors } from '@quiesce/model'
const answer = (ask) => { try { return JSON.stringify(ask()) } catch (error) { return error.code ?? String(error) } }
const ids = (verdicts) => verdicts.map(({ id, holds, vacuous }) => [id, holds, vacuous !== undefined])
const said = ({ type }) => type
const door = createMachine({ id: 'door', initial: 'shut', states: { shut: { on: { open: { target: 'open', actions: { type: 'opens', params: {} } } } }, open: { after: { 10: 'shut' } }, burnt: { entry: { type: 'burns', params: {} } } } })
const opened = (options) => explore(door, { events: [{ type: 'open' }], ...options })
const child = (logic) => setup({ actors: { child: logic } }).createMachine({ id: 'p', initial: 'a', states: { a: { invoke: { id: 'c', src: 'child', onDone: 'b', onError: 'e' }, on: { item: 'i' } }, b: {}, e: {}, i: {} } })
const values = (logic) => explore(child(logic)).graph.states.map(({ local }) => local.configuration.value)
const list = createMachine({ id: 'l', context: { l: [] }, on: { go: { actions: assign({ l: ({ context }) => { context.l.push(1); return context.l } }) } } })
const guarded = (guard) => createMachine({ id: 'g', initial: 'a', states: { a: { on: { go: { guard, target: 'b' } } }, b: {} } })
const echo = createMachine({ id: 'e', on: { go: { actions: { type: 'answers', params: {} } } } })
const sides = createMachine({ id: 's', type: 'parallel', context: { tries: 0 }, states: { left: {}, right: {} } })
const go = { events: [{ type: 'go' }] }
let calls = 0
console.log(JSON.stringify([
  () => ids(check(opened(), [noErrors(), always('x', 'x', (root) => !root.matches('open'))])),
  () => ids(check(opened(), [inOrder('x', 'x', said, ['opens'], 'burns')])),
  () => opened().graph.edgeCount,
  () => values(fromPromise(() => Promise.resolve())),
  () => values(fromCallback(() => {})),
  () => values(fromTransition((state) => state, 0)),
  () => explore(list, go).graph.stateCount,
  () => explore(guarded(() => Math.random() > 2), go).graph.stateCount,
  () => explore(guarded(() => calls++ % 2 === 0), go).graph.stateCount,
  () => ids(check(explore(guarded(() => true), go), [noDeadlock()])),
  () => ids(check(explore(echo, go), [noDeadlock()])),
  () => opened({ events: [{ type: 'opne' }] }).graph.stateCount,
  () => opened({ children: { lod: {} } }).graph.stateCount,
  () => opened({ event: [] }).graph.stateCount,
  () => ids(check(opened(), [always('x', 'x', (root) => !root.matches('opne'))])),
  () => ids(check(opened(), [inOrder('x', 'x', said, ['opnes'], 'opens')])),
  () => ids(check(explore(sides), [always('x', 'x', (root) => root.context.tires !== 1)])),
  () => ids(check(explore(sides), [always('x', 'x', (root) => root.value.letf !== 1)])),
].map(answer)))
`
const ANSWERS = [
  '[["no-errors",true,false],["x",false,false]]',
  '[["x",false,true]]',
  '3',
  '["a","b","e"]',
  '["a","e","i"]',
  '["a"]',
  'ERR_MODEL_MUTATED',
  'ERR_MODEL_IMPURE',
  'ERR_MODEL_INEXACT',
  '[["no-deadlock",false,false]]',
  '[["no-deadlock",true,false]]',
  'ERR_MODEL_UNKNOWN',
  'ERR_MODEL_UNKNOWN',
  'ERR_MODEL_OPTION',
  'ERR_MODEL_UNKNOWN',
  'ERR_MODEL_UNKNOWN',
  'ERR_MODEL_UNKNOWN',
  'ERR_MODEL_UNKNOWN',
]

const placed = new Placed()
const original = sourcesOfModel()
let copies = 0

function answersOf(sources: ReadonlyMap<string, string>): unknown {
  const at = placed.at(`copy-${copies++}`, 'xstate', sources, { program: PROGRAM })
  const { stdout, stderr } = spawnSync(process.execPath, [join(at, 'program.mjs')], { encoding: 'utf8' })
  return stderr === '' ? JSON.parse(stdout) : stderr
}

test('the checker as it is answers as is known', () => {
  expect(answersOf(original)).toEqual(ANSWERS)
})

test.each(Object.entries(MUTANTS))('with a mistake it does not: %s', (_, [file, text, instead]) => {
  const source = original.get(file) ?? ''
  expect(source.split(text)).toHaveLength(2)
  const answers = answersOf(new Map(original).set(file, source.replace(text, instead)))
  expect(Array.isArray(answers) ? answers : []).toHaveLength(ANSWERS.length)
  expect(answers).not.toEqual(ANSWERS)
})
