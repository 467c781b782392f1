// @ts-check
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {import('../../test/loss/cells.mjs').Cell} Cell
 * @typedef {import('../../test/loss/round.mjs').Round} Round
 * @typedef {{ cell: Cell, server: import('../../test/loss/replicas.mjs').ServerKind, seed: number, lastCall?: string | undefined }} Task
 */

const WORKER = fileURLToPath(new URL('../../test/loss/worker.mjs', import.meta.url))
const WORKERS_MAX = 8

/**
 * How many processors a round wants for itself: one for its clients and one for its server, or what is measured is how late they are. While a long
 * delay goes by, others may share them.
 * @param {Cell} cell
 */
const weightOf = ({ delay, link, load }) => (delay < LONG_MS ? 2 : (link >= 15 ? 0.6 : 1) + (load === 'busy' ? 0.4 : 0))
const LONG_MS = 2000

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
