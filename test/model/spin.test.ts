// Fails when: spin, which finds the states of a life by itself from the tables of its actors, comes
// to other states than the checker, or to another verdict, of a life as it is or with a mistake.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { check, type Exploration, promela } from '#model'
import { createServer, type Life } from '#src/index.ts'
import { WIRING } from '#src/machines/wiring.ts'
import { exploreLifecycle, invariantsOf, type LifecycleModelOptions, planOf } from '#src/model/life/lifecycle-model.ts'
import { withRepresentatives } from '#src/model/life/representatives.ts'
import { withRows } from '../../scripts/mutation/edited-table.mjs'

const hasSpin = spawnSync('spin', ['-V']).status === 0 && spawnSync('gcc', ['--version']).status === 0

const nothing = (): void => {}

function withHooks(): Life {
  const server = createServer({ listener: nothing }, { logger: false, platform: 'kubernetes' })
  server.addPostStartHook('warm', nothing)
  server.addPreShutdownHook('leave', nothing)
  server.addDestroy('pool', nothing)
  return server
}

interface OfSpin {
  readonly states: number
  readonly transitions: number
  readonly errors: number
}

function spin(model: string): OfSpin {
  const folder = mkdtempSync(join(tmpdir(), 'spin-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'model.pml'), model)
  const run = (command: string, ...args: readonly string[]): string => {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
    expect({ command, status, stderr, ...(status !== 0 && { stdout }) }).toMatchObject({ status: 0, stderr: '' })
    return stdout
  }
  run('spin', '-a', 'model.pml')
  run('gcc', '-O1', '-DSAFETY', '-DVECTORSZ=8192', '-o', 'pan', 'pan.c')
  const found = run('./pan', '-m1000000')
  expect(found).not.toContain('max search depth too small')
  // The first error ends the search: it may be no other than that the property is broken.
  if (found.includes('Search not completed')) expect(found).toContain('precondition false: sys.monitor != BROKEN')
  const number = (pattern: RegExp): number => Number(pattern.exec(found)?.[1])
  return { states: number(/(\d+) states, stored/), transitions: number(/(\d+) transitions/), errors: number(/errors: (\d+)/) }
}

/** What both say of a property. */
function verdicts(life: Life, id: string, options: LifecycleModelOptions) {
  const plan = planOf(life, 'refuse')
  const exploration = exploreLifecycle(plan, options)
  const property = invariantsOf(plan).find((other) => other.id === id)
  if (!property) throw new Error(`no property ${id}`)
  const [verdict] = check(exploration, [property])
  return { ours: verdict?.holds, ofSpin: spin(promela(exploration, property)).errors === 0 }
}

/** One more than ours is the state before the start, and two transitions lead from it. */
const sizeOf = ({ graph }: Exploration): OfSpin => ({ states: graph.stateCount + 1, transitions: graph.edgeCount + 2, errors: 0 })

describe.skipIf(!hasSpin && process.env['SPIN'] !== 'required')('spin, from the same tables', () => {
  test('finds as many states and transitions of a life with hooks', () => {
    const exploration = exploreLifecycle(planOf(withHooks(), 'refuse'))
    expect(spin(promela(exploration))).toEqual(sizeOf(exploration))
  })

  test('finds as many of a life with two post-start hooks, in every order', () => {
    const server = createServer({ listener: nothing }, { logger: false, platform: 'kubernetes' })
    for (const name of ['warm', 'fill']) server.addPostStartHook(name, nothing)
    const plan = planOf(server, 'refuse')
    const exploration = exploreLifecycle(withRepresentatives(plan, false))
    expect(spin(promela(exploration))).toEqual(sizeOf(exploration))
    expect(() => promela(exploreLifecycle(withRepresentatives(plan)))).toThrow('`alike` leaves out orders')
  })

  test('finds as many of a life with mux-complete signals, that retries', () => {
    const plan = { ...planOf(withHooks(), 'retry-after'), postStartHooks: [], muxSignals: ['apis'] }
    const exploration = exploreLifecycle(plan)
    expect(spin(promela(exploration))).toEqual(sizeOf(exploration))
  })

  test.each(['order/PreShutdownHooksStopped', 'order/HandlersDone', 'brackets/destroy'])('says as well that %s holds', (id) => {
    expect(verdicts(withHooks(), id, { outside: ['stop'] })).toEqual({ ours: true, ofSpin: true })
  })

  test.each([
    ['order/PreShutdownHooksStopped', { 'pre-shutdown-hooks': { after: ['AfterShutdownDelayDuration'] } }],
    ['order/HandlersDone', { handlers: { after: ['ConnectionsClosed'] } }],
  ] as const)('finds the same mistake: %s', (id, rows) => {
    const edited = Object.fromEntries(
      Object.entries(rows).map(([phase, row]) => [phase, { ...WIRING[phase as keyof typeof WIRING], ...row }]),
    )
    const found = withRows(WIRING, edited, () => verdicts(withHooks(), id, { outside: ['start', 'stop'] }))
    expect(found).toEqual({ ours: false, ofSpin: false })
  })
})
