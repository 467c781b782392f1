// @ts-check
// Runs each test of a file first as it is and then with each mutant that it reaches, in one process
// and with one import. A mutant is caught when the test fails with it, passes at once without it,
// and fails with it again. A test that passes with several mutants at a time, all of which it
// reaches, is taken to pass with each of them until that is confirmed. What it finds goes line by line into a file, as the process may end.
import { appendFileSync, readFileSync } from 'node:fs'
import { TestRunner } from 'vitest'

/**
 * @typedef {{ open: number[], done: Record<string, number[]>, most: Record<string, number>, groupMax: number, isForSlow: boolean }} Plan
 *   which mutants to try, which of them a test has had, how many at a time it may have, and whether it is the slow tests' turn
 * @typedef {{ kind: 'process', pid: number }
 *   | { kind: 'load', reached: number[] }
 *   | { kind: 'caught' | 'passed' | 'unreached' | 'spoilt', mutant: number, test: string }
 *   | { kind: 'try', mutants: number[], test: string }
 *   | { kind: 'fails by itself' | 'slow', test: string }
 *   | { kind: 'over' }} Finding
 * @typedef {Generator<readonly number[], void, boolean>} Attempt gives the mutants of an attempt, and takes whether it passed
 * @typedef {import('vitest').RunnerTestCase} Test
 */

const plan = /** @type {Plan} */ (JSON.parse(readFileSync(/** @type {string} */ (process.env['MUTANTS_PLAN']), 'utf8')))
const found = (/** @type {Finding} */ finding) =>
  appendFileSync(/** @type {string} */ (process.env['MUTANTS_FOUND']), `${JSON.stringify(finding)}\n`)

/** How long a test may take with a mutant: so many times as without, and at least so long. */
const SLOWER = 5
const PATIENCE_MS = 2_000
/** A test that takes longer has its turn when the others have caught what they can. */
const SLOW_MS = 700
/** How many mutants at a time: more after each group that passes, fewer after one that fails. */
const GROUP_MIN = 4
/** More attempts than any test needs. */
const MANY = 1_000_000

/** The mutants of this attempt; without any it is the code as it is. @type {ReadonlySet<number>} */
let active = new Set()
/** @type {Set<number>} */
let reached = new Set()
/** @type {unknown[]} */
let unhandled = []
Object.assign(globalThis, {
  isMutant(/** @type {number} */ number) {
    reached.add(number)
    return active.has(number)
  },
})
for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, (error) => void unhandled.push(error))
found({ kind: 'process', pid: process.pid })

export default class Attempts extends TestRunner {
  /** @type {Attempt | undefined} */
  #attempts
  #patienceMs = Number.POSITIVE_INFINITY
  #begun = 0
  #tookMs = 0
  /** @type {readonly number[]} */
  #next = []
  #isLoaded = false

  /** @override @param {Test} test */
  async onBeforeRunTask(test) {
    if (!this.#isLoaded) found({ kind: 'load', reached: [...reached] })
    this.#isLoaded = true
    await super.onBeforeRunTask(test)
    test.retry = MANY
    this.#patienceMs = Number.POSITIVE_INFINITY
    this.#attempts = attemptsOf(nameOf(test), () => this.#tookMs)
    this.#next = this.#attempts.next().value ?? []
  }

  /** @override @param {Test} test */
  onBeforeTryTask(test) {
    super.onBeforeTryTask(test)
    reached = new Set()
    unhandled = []
    active = new Set(this.#next)
    this.#begun = performance.now()
  }

  /** @param {Test} test */
  async runTask(test) {
    const running = Promise.resolve(TestRunner.getTestFn(test)())
    if (this.#patienceMs === Number.POSITIVE_INFINITY) return await running
    running.catch(() => {})
    let timer
    const late = new Promise((_resolve, reject) => {
      timer = patiently(() => reject(new Error('the mutant hangs')), this.#patienceMs)
    })
    try {
      await Promise.race([running, late])
    } finally {
      clear(timer)
    }
  }

  /** @param {Test} test */
  onAfterRetryTask(test) {
    const result = /** @type {NonNullable<Test['result']>} */ (test.result)
    active = new Set()
    this.#tookMs = performance.now() - this.#begun
    if (this.#patienceMs === Number.POSITIVE_INFINITY) this.#patienceMs = Math.max(PATIENCE_MS, SLOWER * this.#tookMs)
    const isPassed = result.state === 'pass' && unhandled.length === 0
    const next = this.#attempts?.next(isPassed)
    delete result.errors
    // As a try that failed it is tried again.
    result.state = next?.done === false ? 'fail' : 'pass'
    if (next?.done !== false) return
    this.#next = next.value
    result.errors = [{ message: 'the next attempt' }]
  }

  /** @override */
  onAfterRunFiles() {
    super.onAfterRunFiles()
    found({ kind: 'over' })
  }
}

// Tests may put clocks of their own in their places.
const patiently = setTimeout
const clear = clearTimeout

/** @param {string} test @param {() => number} tookMs the last attempt @returns {Attempt} */
function* attemptsOf(test, tookMs) {
  if (!(yield [])) return found({ kind: 'fails by itself', test })
  const isSlow = tookMs() > SLOW_MS
  if (isSlow) found({ kind: 'slow', test })
  if (isSlow !== plan.isForSlow) return
  const done = new Set(plan.done[test])
  let left = plan.open.filter((number) => reached.has(number) && !done.has(number))
  const most = plan.most[test] ?? plan.groupMax
  let size = Math.min(most, GROUP_MIN)
  while (left.length > 0) {
    const group = left.slice(0, size)
    found({ kind: 'try', mutants: group, test })
    const passes = yield group
    const isSingle = group.length === 1
    if (passes) {
      // Those that others have kept from being reached are tried again, at the end.
      const tried = group.filter((number) => reached.has(number))
      for (const mutant of tried) found({ kind: 'passed', mutant, test })
      if (isSingle && tried.length === 0) found({ kind: 'unreached', mutant: Number(group), test })
      left = [...left.slice(group.length), ...(isSingle ? [] : group.filter((number) => !tried.includes(number)))]
      size = tried.length === 0 ? 1 : Math.min(most, size * 2)
      continue
    }
    if (!(yield [])) {
      // What a mutant has left behind fails the test without it, too.
      found(isSingle ? { kind: 'spoilt', mutant: Number(group), test } : { kind: 'try', mutants: group, test })
      process.kill(process.pid, 'SIGKILL')
    }
    if (!isSingle) {
      size = Math.ceil(group.length / 2)
      continue
    }
    const isCaught = !(yield group)
    found({ kind: isCaught ? 'caught' : 'passed', mutant: Number(group), test })
    left = left.slice(1)
    if (isCaught) plan.open = plan.open.filter((number) => number !== Number(group))
  }
}

/** @param {Test} test */
function nameOf(test) {
  const names = [test.name]
  for (let suite = test.suite; suite && suite !== test.file; suite = suite.suite) names.unshift(suite.name)
  return names.join(' > ')
}
