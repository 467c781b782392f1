// @ts-check
// Clients of Kubernetes as processes, each with a ledger of what it was told.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { withUs } from '../support/with-us.mjs'
import { compare, entryOf, textOf } from './notes.mjs'

/** @typedef {import('./notes.mjs').Entry} Entry */

/**
 * A client that goes on by itself when its watch ends.
 * @typedef {object} Ledger
 * @property {string} name
 * @property {(name: string) => boolean} knows whether it was told of an object
 * @property {() => string} trouble what has ended it; empty: nothing
 * @property {() => Promise<void>} end
 * @property {(written: readonly Entry[]) => string} wrong what is wrong with what it was told; empty: nothing
 * @property {() => string} summary
 */

/** One of the programs of this folder, which say a line for each event. @param {string} name @param {readonly string[]} command @param {string} url @returns {Ledger} */
export function informer(name, command, url) {
  const [program = '', ...args] = command
  const child = withUs(spawn(program, [...args, url], { stdio: ['ignore', 'pipe', 'pipe'] }))
  const over = once(child, 'exit')
  /** @type {Entry[]} */
  const told = []
  let said = ''
  child.stderr.on('data', (chunk) => (said = (said + String(chunk)).slice(-2_000)))
  createInterface(child.stdout).on('line', (line) => told.push(JSON.parse(line)))
  return {
    name,
    knows: (object) => told.some((entry) => entry.name === object),
    trouble: () => (child.exitCode === null && child.signalCode === null ? '' : `${name} has ended: ${said}`),
    end: async () => {
      child.kill()
      await over
    },
    wrong: (written) => compare(written, told),
    summary: () => `${told.length} events, each once`,
  }
}

/**
 * `kubectl get -w`, which ends well when a server ends its watch, and is typed again then: it lists anew, and is told from there on.
 * @param {string} kubectl @param {string} url @param {string} cache @returns {Ledger}
 */
export function kubectlGetWatch(kubectl, url, cache) {
  const ARGS = ['get', 'notes.clients.example', '-n', 'default', '-w', '-o', 'json', '--output-watch-events']
  /** What each run was told. @type {Entry[][]} */
  const runs = []
  let [isOver, trouble] = [false, '']
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child
  async function again() {
    while (!isOver && trouble === '') {
      /** @type {Entry[]} */
      const told = []
      runs.push(told)
      child = withUs(
        spawn(kubectl, ['--server', url, '--cache-dir', cache, ...ARGS], {
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, KUBECONFIG: '/dev/null' },
        }),
      )
      const closed = once(child, 'close')
      let said = ''
      child.stderr?.on('data', (chunk) => (said += String(chunk)))
      createInterface(/** @type {import('node:stream').Readable} */ (child.stdout)).on('line', (line) => {
        if (line !== '') told.push(entryOf(JSON.parse(line)))
      })
      const [code, signal] = await closed
      if (!isOver && (code !== 0 || said !== '')) trouble = `kubectl get -w ended with ${code ?? signal}: ${said}`
    }
  }
  const running = again()
  return {
    name: 'kubectl get -w',
    knows: (object) => runs.some((told) => told.some(({ name }) => name === object)),
    trouble: () => trouble,
    end: async () => {
      isOver = true
      child?.kill()
      await running
    },
    wrong: (written) =>
      trouble || runs.map((told, at) => wrongOfRun(written, told, at === runs.length - 1)).find((each) => each !== '') || '',
    summary: () =>
      `${runs.length} runs, ${runs.reduce((sum, told) => sum + told.length, 0)} lines: each a list as it was and every event behind it once`,
  }
}

/** A list of what was there at one moment, and all that came behind it, as far as the run went. @param {readonly Entry[]} written @param {readonly Entry[]} told @param {boolean} isLast */
function wrongOfRun(written, told, isLast) {
  if (told.length === 0) return isLast ? 'the last run was told nothing' : ''
  /** @type {Map<string, string>} */
  const state = new Map()
  /** What is wrong where most of it is right. */
  let nearest = { at: -1, why: `no moment had ${told.slice(0, 3).map(textOf).join(', ')}` }
  for (let from = 0; from <= written.length; from++) {
    const listed = told.slice(0, state.size)
    if (listed.length === state.size && listed.every(({ type, name, version }) => type === 'ADDED' && state.get(name) === version)) {
      const events = told.slice(state.size)
      const expected = written.slice(from, isLast ? undefined : from + events.length)
      const why = compare(expected, events)
      if (why === '') return ''
      const at = events.findIndex(
        (entry, index) => expected[index] === undefined || textOf(entry) !== textOf(/** @type {Entry} */ (expected[index])),
      )
      if (at > nearest.at) nearest = { at, why }
    }
    const next = written[from]
    if (next?.type === 'DELETED') state.delete(next.name)
    else if (next) state.set(next.name, next.version)
  }
  return nearest.why
}

/** @param {() => boolean} is @param {string} what @param {readonly Ledger[]} ledgers @param {number} ms */
export async function until(is, what, ledgers, ms) {
  const end = performance.now() + ms
  while (!is()) {
    const trouble = ledgers.map((ledger) => ledger.trouble()).find((each) => each !== '')
    if (trouble !== undefined) throw new Error(trouble)
    if (performance.now() > end) throw new Error(`${what} has not come`)
    await sleep(10)
  }
}
