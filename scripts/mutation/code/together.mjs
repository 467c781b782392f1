// @ts-check
// Tries many mutants with one import of each test file: all of them are in the code, and a test
// turns on one after the other of those that it reaches (attempts.mjs).
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Writable } from 'node:stream'
import { createVitest } from 'vitest/node'
import { switched } from './switched.mjs'
import { viteOptions, vitestOptions } from './vitest-options.mjs'

/**
 * @typedef {import('./mutants.mjs').CodeMutant} CodeMutant
 * @typedef {import('./attempts.mjs').Finding} Finding
 * @typedef {{ mutant: CodeMutant, failure: string }} Caught
 * @typedef {{ mutant: CodeMutant, reason: string, tests: string[] }} Left
 */

const ROOT = resolve(import.meta.dirname, '../../..')
/** An attempt stops a test that waits; what takes longer than this never lets the process do so. */
const HANG_MS = 90_000
/** What follows a test waits no longer than this, when it waits for what a mutant keeps from coming. */
const HOOK_MS = 4_000
/** At a time, at most. Two can undo each other, so that who is left in the end is tried singly. */
const GROUP_MAX = 64
/** A file that spoils its process more often is not gone on with. */
const PROCESSES_MAX = 40

const TURNS = [GROUP_MAX, 1].flatMap((groupMax) => [
  { groupMax, isForSlow: false },
  { groupMax, isForSlow: true },
])

/**
 * @param {readonly CodeMutant[]} all of the code: their places in it are their numbers
 * @param {readonly CodeMutant[]} chosen
 * @param {readonly string[]} tests
 * @param {(caught: readonly Caught[], test: string, left: number) => void} onFile after each file of tests
 * @returns {Promise<Left[]>} who is not caught; those that were not tried as they should have been name their reason
 */
export async function tryTogether(all, chosen, tests, onFile) {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-mutants-'))
  const files = { plan: join(folder, 'plan.json'), found: join(folder, 'found.jsonl') }
  Object.assign(process.env, { MUTANTS_PLAN: files.plan, MUTANTS_FOUND: files.found })
  // 0 is the code as it is.
  const numbers = new Map(all.map((mutant, index) => [mutant, index + 1]))
  const numberOf = (/** @type {CodeMutant} */ mutant) => /** @type {number} */ (numbers.get(mutant))
  const byNumber = (/** @type {number} */ number) => /** @type {CodeMutant} */ (all[number - 1])
  const plugin = {
    name: 'mutants',
    enforce: /** @type {const} */ ('pre'),
    /** @param {string} code @param {string} id */
    transform(code, id) {
      const path = id.split('?')[0]
      const mutants = chosen.filter(({ file }) => resolve(ROOT, file) === path)
      return mutants.length > 0 ? switched(code, mutants, numberOf) : undefined
    },
  }
  const options = { ...vitestOptions, hookTimeout: HOOK_MS, runner: join(import.meta.dirname, 'attempts.mjs') }
  // What programs under test print with a mutant is of no interest.
  const vitest = await createVitest('test', options, viteOptions(plugin), { stdout: nowhere(), stderr: nowhere() })
  await vitest.standalone()
  const project = vitest.getRootProject()

  /** @type {Map<number, { reasons: Set<string>, tests: Set<string> }>} */
  const open = new Map(
    chosen.map((mutant) => [numberOf(mutant), { reasons: new Set(mutant.whole ? [] : ['no switch']), tests: new Set() }]),
  )
  /** @type {Set<string>} */
  const slow = new Set()
  for (const { groupMax, isForSlow } of TURNS) {
    for (const test of tests) {
      const isReached = groupMax > 1 || [...open.values()].some(({ reasons, tests: reaching }) => reasons.size === 0 && reaching.has(test))
      if (open.size > 0 && isReached && (!isForSlow || slow.has(test))) await runFile(test, groupMax, isForSlow)
    }
  }
  await vitest.close()
  rmSync(folder, { recursive: true })
  return [...open].map(([number, { reasons, tests: reaching }]) => ({
    mutant: byNumber(number),
    reason: [...reasons].join(', '),
    tests: [...reaching],
  }))

  /** @param {string} test @param {number} groupMax @param {boolean} isForSlow */
  async function runFile(test, groupMax, isForSlow) {
    /** @type {Caught[]} */
    const caught = []
    /** @type {Record<string, number[]>} */
    const done = {}
    /** @type {Record<string, number>} */
    const most = {}
    for (let isOver = false, processes = 0; !isOver && processes < PROCESSES_MAX; processes += 1) {
      const wanted = [...open].filter(([, { reasons }]) => !reasons.has('spoils') && !reasons.has('no switch'))
      writeFileSync(files.plan, JSON.stringify({ open: wanted.map(([number]) => number), done, most, groupMax, isForSlow }))
      rmSync(files.found, { force: true })
      const watch = watchOver(files.found)
      await vitest.runTestSpecifications([project.createSpecification(resolve(ROOT, test))])
      const isHung = watch.end()
      const findings = read(files.found)
      for (const finding of findings) take(finding, test, caught, done)
      const last = findings.at(-1)
      if (last?.kind === 'try') {
        const [mutant, ...others] = last.mutants
        if (mutant === undefined || others.length > 0) most[last.test] = Math.ceil(others.length / 2)
        else if (!isHung) note(mutant, test, 'spoils')
        else if (open.delete(mutant)) caught.push({ mutant: byNumber(mutant), failure: `${test} > ${last.test}: hangs` })
      }
      isOver = last === undefined || last.kind === 'over' || last.kind === 'load' || last.kind === 'process'
    }
    onFile(caught, test, open.size)
  }

  /** @param {Finding} finding @param {string} test @param {Caught[]} caught @param {Record<string, number[]>} done */
  function take(finding, test, caught, done) {
    if (finding.kind === 'load') for (const number of finding.reached) note(number, test, 'at load')
    if (finding.kind === 'slow') slow.add(test)
    if (finding.kind === 'fails by itself') console.log(`fails without a mutant: ${test} > ${finding.test}`)
    if (!('mutant' in finding)) return
    const { kind, mutant } = finding
    done[finding.test] = [...(done[finding.test] ?? []), mutant]
    note(mutant, test)
    if (kind === 'unreached') note(mutant, test, 'once')
    if (kind === 'spoilt') note(mutant, test, 'spoils')
    if (kind === 'caught' && open.delete(mutant)) caught.push({ mutant: byNumber(mutant), failure: `${test} > ${finding.test}` })
  }

  /** @param {number} number @param {string} test @param {string} [reason] */
  function note(number, test, reason) {
    open.get(number)?.tests.add(test)
    if (reason) open.get(number)?.reasons.add(reason)
  }
}

const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/** @param {string} path @returns {Finding[]} */
const read = (path) =>
  existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []

/** Ends the process of the tests when nothing comes from it any more. @param {string} path */
function watchOver(path) {
  let size = 0
  let since = performance.now()
  let isHung = false
  const timer = setInterval(() => {
    const findings = read(path)
    if (findings.length !== size) since = performance.now()
    size = findings.length
    if (isHung || performance.now() - since < HANG_MS) return
    const own = findings.find((finding) => finding.kind === 'process')
    isHung = own !== undefined
    if (own) process.kill(own.pid, 'SIGKILL')
  }, 5_000)
  return {
    end() {
      clearInterval(timer)
      return isHung
    },
  }
}
