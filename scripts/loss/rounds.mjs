// @ts-check
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { isHttp2 } from '../../test/loss/protocols.mjs'
import { CLIENTS } from '../../test/loss/round.mjs'

/**
 * @typedef {import('../../test/loss/cells.mjs').Cell} Cell
 * @typedef {import('../../test/loss/round.mjs').Round} Round
 * @typedef {object} Task
 * @property {readonly [Cell, ...Cell[]]} cells that share the termination
 * @property {number} clients for each of them
 * @property {import('../../test/loss/replicas.mjs').ServerKind} server
 * @property {number} seed
 * @property {string | undefined} [lastCall]
 * @property {number} [graceMs]
 * @property {number} [patienceMs]
 *
 * @typedef {object} Play
 * @property {(task: Task, round: Round) => void} played called after each round that counts
 * @property {(task: Task, round: Round) => void} spoiled called after each one that does not, and is played again
 * @property {number} lateMs clients that were later than this have spoiled their round: what they lost, and what not, says nothing
 * @property {number} [processors]
 * @property {number} [tries] a round that is spoiled so often counts as it is
 */

const WORKER = fileURLToPath(new URL('../../test/loss/client-worker.mjs', import.meta.url))
const WORKERS_MAX = 8
const TRIES_MAX = 4

/**
 * How many processors a round wants for itself. Forty clients and their server share about one, those of HTTP/2, which ask more at a time, a little more; while a long delay goes by, they leave most of it to others.
 * @param {Task} task
 */
const weightOf = ({ cells, clients }) => {
  const [{ delay, link, load, protocol }] = cells
  const crowd = Math.max(1, (cells.length * clients) / CLIENTS)
  return (delay < LONG_MS ? (link >= 15 ? 0.8 : 1) : 0.3) * (isHttp2(protocol) ? 1.2 : 1) * (0.5 + crowd / 2) + LOAD_WEIGHTS[load]
}
const LOAD_WEIGHTS = { quiet: 0, busy: 0.2, blocked: 0.2 }
const LONG_MS = 2000

/**
 * Plays all tasks, as many at a time as the machine has processors for. The longest come first, or the end would wait for one of them alone.
 * @param {readonly Task[]} tasks
 * @param {Play} play
 */
export async function playAll(tasks, { played, spoiled, lateMs, processors = availableParallelism(), tries: most = TRIES_MAX }) {
  const queue = tasks.map((task) => ({ task, tries: 1 })).sort((a, b) => b.task.cells[0].delay - a.task.cells[0].delay)
  let free = processors
  let underWay = 0
  /** One at a time: a process that starts wants a processor for itself. */
  let isOneStarting = false
  /** @type {Set<() => void>} */
  const waiting = new Set()
  const wakeAll = () => {
    for (const wake of waiting) wake()
    waiting.clear()
  }
  /**
   * The next task that fits; undefined when none is left, nor one under way that may have to be
   * played again.
   */
  const next = async () => {
    for (;;) {
      const at = isOneStarting ? -1 : queue.findIndex(({ task }) => weightOf(task) <= free + 1e-9 || underWay === 0)
      const [taken] = at < 0 ? [] : queue.splice(at, 1)
      if (taken) {
        free -= weightOf(taken.task)
        underWay++
        isOneStarting = true
        return taken
      }
      if (queue.length === 0 && underWay === 0) return undefined
      await new Promise((resolve) => waiting.add(() => resolve(undefined)))
    }
  }
  const work = async () => {
    const child = fork(WORKER, { execArgv: [] })
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`a worker ended with ${code}`)
    })
    ended.catch(() => {})
    await Promise.race([once(child, 'message'), ended])
    for (let taken = await next(); taken; taken = await next()) {
      const { task, tries } = taken
      child.send(task)
      await Promise.race([once(child, 'message'), ended])
      isOneStarting = false
      wakeAll()
      const [round] = /** @type {[Round]} */ (await Promise.race([once(child, 'message'), ended]))
      free += weightOf(task)
      underWay--
      if (round.lagMs <= lateMs || tries >= most) played(task, round)
      else {
        spoiled(task, round)
        queue.push({ task, tries: tries + 1 })
      }
      wakeAll()
    }
    child.disconnect()
  }
  await Promise.all(Array.from({ length: Math.min(WORKERS_MAX, tasks.length) }, work))
}
