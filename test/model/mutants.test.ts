// Fails when: a machine, a region or a row of the table is left out by the mutants, an operator
// finds nothing to change, or something is heard though a mutant of it was explained by nothing
// ever hearing it.

import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { StateMachine } from 'xstate'
import { untaken } from '#model'
import { effectiveWiring, type LifePlan } from '#src/machines/lifecycle.ts'
import { WIRING } from '#src/machines/wiring.ts'
import { exploreLifecycle } from '#src/model/life/lifecycle-model.ts'
import { EQUIVALENT } from '../../scripts/mutation/equivalent.mjs'
import { allMutants } from '../../scripts/mutation/mutants.mjs'
import { PROFILES, plannedHooks } from '../support/fake-effects.ts'

/**
 * Files of src/machines that export neither a machine nor a region, each with places of what they
 * make, or none when that is no state.
 */
const OTHERS: Readonly<Record<string, readonly string[]>> = {
  lifecycle: ['root running:', 'root forcing:', 'root ended:'],
  region: ['root running.bind.working:'],
  'post-start-hooks': ['root running.post-start-hooks.launched.hooks.working.warm.live:'],
  wiring: Object.keys(WIRING).map((phase) => `root running.${phase}.waiting`),
  vocabulary: ['root: '],
  'user-phases': [],
  'on-signal': ['on-signal '],
  'exit-codes': [],
  hearing: [],
  phase: [],
  signals: [],
}

const mutants = allMutants()
const sites = mutants.map(({ id }) => id.slice(id.indexOf(': ') + 2))
const isRegion = (value: unknown): value is { readonly id: string } =>
  typeof value === 'object' && value !== null && 'states' in value && 'id' in value && !(value instanceof StateMachine)

const MACHINES = new URL('../../src/machines/', import.meta.url)
const files = readdirSync(MACHINES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))

test.each(files.map((path) => [basename(path, '.ts'), path]))('%s is changed', async (file, path) => {
  const exported: unknown[] = Object.values((await import(/* @vite-ignore */ new URL(path, MACHINES).pathname)) as object)
  const machines = exported.flatMap((value) => (value instanceof StateMachine ? [`${value.id} `] : []))
  const regions = exported.flatMap((value) => (isRegion(value) ? [`root running.${value.id}`] : []))
  const places = [...machines, ...regions, ...(OTHERS[file] ?? [])]
  expect(places.length > 0 || Object.hasOwn(OTHERS, file), 'neither a machine, nor a region, nor known here').toBe(true)
  expect(places.filter((place) => !sites.some((site) => site.startsWith(place)))).toEqual([])
})

test.each([
  'edge dropped',
  'join turned into any-of',
  'wrong mode',
  'transition dropped',
  'timeout missing',
  'timeout doubled',
  'guard dropped',
  'signal fired twice',
  'work not begun',
  'error swallowed',
  'reserve ignored',
  'part of an action dropped',
])('%s: something is changed', (operator) => {
  expect(mutants.some((mutant) => mutant.operator === operator)).toBe(true)
})

const INPUT: LifePlan['input'] = {
  profiles: PROFILES,
  notifyClients: 'gradual',
  connectionTimeoutMs: 60_000,
  preShutdownHooks: plannedHooks(['leave']),
  destroyFunctions: [{ kind: 'destroy', name: 'pool', timeoutMs: 1_000 }],
}

/**
 * The transitions that are dropped, or whose error is swallowed, by mutants that have such a
 * reason.
 */
const unheard = mutants.flatMap(({ id }) => {
  const reason = EQUIVALENT.find(({ mutants: meant }) => meant.test(id))
  const [, state, event] = /^(?:transition dropped|error swallowed): root running\.(.+): (?:on|work) ([^ ]+)$/.exec(id) ?? []
  if (!reason?.unheard || state === undefined) return []
  const phase = state.split('.')[0] as string
  return [{ id, phase, transition: `lifecycle.running.${state} ${event === 'onError' ? `xstate.error.actor.${phase}` : event}` }]
})

test.each(['refuse', 'retry-after'] as const)(
  'what no run tells from the original, because nothing ever hears it, is never heard in %s mode',
  (mode) => {
    const never = untaken(exploreLifecycle({ mode, input: INPUT, muxSignals: ['apis'] })).map(({ source, event }) => `${source} ${event}`)
    const rows = effectiveWiring({ mode })
    expect(unheard.length).toBeGreaterThan(30)
    expect(unheard.filter(({ phase, transition }) => rows[phase] && !never.includes(transition)).map(({ id }) => id)).toEqual([])
  },
)
