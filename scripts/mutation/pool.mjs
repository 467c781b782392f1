// @ts-check
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

const WORKER = new URL('worker.mjs', import.meta.url)
/** More than a few wait for memory, not for a processor. */
const THREADS_MAX = 8

/**
 * What notices each of these mutants, given by their places in the list. All processors share the work.
 * @param {readonly number[]} indices
 * @param {(index: number, by: string | undefined) => void} onAnswer in the order in which they are answered
 */
export async function caughtByOf(indices, onAnswer) {
  const left = [...indices].reverse()
  const threads = Math.min(availableParallelism(), THREADS_MAX, indices.length)
  await Promise.all(
    Array.from(
      { length: threads },
      () =>
        new Promise((resolve, reject) => {
          const worker = new Worker(WORKER)
          const next = () => {
            const i = left.pop()
            if (i === undefined) resolve(worker.terminate())
            else worker.postMessage(i)
          }
          worker.on('message', ({ i, by }) => {
            onAnswer(i, by)
            next()
          })
          worker.on('error', reject)
          next()
        }),
    ),
  )
}
