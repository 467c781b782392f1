// @ts-check
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {import('../../test/loss/cells.mjs').Cell} Cell
 * @typedef {import('../../test/loss/round.mjs').Round} Round
 * @typedef {{ cell: Cell, server: import('../../test/loss/replicas.mjs').ServerKind, seed: number }} Task
 */

const WORKER = fileURLToPath(new URL('../../test/loss/worker.mjs', import.meta.url))
/** However long their links are, more rounds at a time would be measured by how late the clients are. */
const WORKERS_MAX = 6

/**
 * The share of a processor that a round takes, clients and server together [measured, rounded up]: who waits for a longer link sends less.
 * @param {Cell} cell
 */
const weightOf = ({ link, load }) => (link >= 50 ? 0.35 : link >= 15 ? 0.5 : 0.8) + (load === 'quiet' ? 0 : 0.3)

/**
 * Plays all tasks, as many at a time as the machine has processors for, and calls `played` after each. The longest come first, or the end would
 * wait for one of them alone.
 * @param {readonly Task[]} tasks
 * @param {(task: Task, round: Round) => void} played
 * @param {number} processors
 */
export async function playAll(tasks, played, processors = availableParallelism()) {
  const queue = [...tasks].sort((a, b) => b.cell.delay - a.cell.delay)
  let free = processors
  /** @type {Set<() => void>} */
  const waiting = new Set()
  /** The next task that fits; undefined when none is left. @returns {Promise<Task | undefined>} */
  const next = async () => {
    for (;;) {
      const at = queue.findIndex(({ cell }) => weightOf(cell) <= free || free === processors)
      const [task] = at < 0 ? [] : queue.splice(at, 1)
      if (task || queue.length === 0) {
        if (task) free -= weightOf(task.cell)
        return task
      }
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
    for (let task = await next(); task; task = await next()) {
      const answered = once(child, 'message')
      child.send(task)
      const [round] = await Promise.race([answered, ended])
      free += weightOf(task.cell)
      for (const wake of waiting) wake()
      waiting.clear()
      played(task, /** @type {Round} */ (round))
    }
    child.disconnect()
  }
  await Promise.all(Array.from({ length: Math.min(WORKERS_MAX, tasks.length) }, work))
}
