// @ts-check
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

const WORKER = new URL('worker.mjs', import.meta.url)
/** More than a few wait for memory, not for a processor. */
const THREADS_MAX = 8

/**
 * @typedef {import('./catch.mjs').Catch} Catch
 * @typedef {{ i: number, before: Catch | null }} Task a mutant by its place in the list, and what noticed it the last time
 */

/**
 * What notices each of these mutants. All processors share the work.
 * @param {readonly Task[]} tasks
 * @param {(i: number, found: Catch | null) => void} onAnswer in the order in which they are answered
 */
export async function caughtByOf(tasks, onAnswer) {
  const left = [...tasks].reverse()
  const threads = Math.min(availableParallelism(), THREADS_MAX, tasks.length)
  await Promise.all(
    Array.from(
      { length: threads },
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker(WORKER)
          const next = () => {
            const task = left.pop()
            if (task === undefined) resolve(worker.terminate())
            else worker.postMessage(task)
          }
          worker.on('message', ({ i, found }) => {
            onAnswer(i, found)
            next()
          })
          worker.on('error', reject)
          next()
        }),
    ),
  )
}
