// @ts-check
// The queue of README's worker: a job of three seconds every half second, until it is paused. A job
// that was begun and not done when it is closed is lost, and the end of the worker fails.

/** @typedef {{ id: string, work: (context: { signal: AbortSignal }) => Promise<void> }} Job */

let begun = 0
let done = 0
/** @type {NodeJS.Timeout | undefined} */
let timer

/** @returns {Job} */
function nextJob() {
  begun += 1
  return {
    id: `job-${begun}`,
    work: () =>
      new Promise((resolve) => {
        setTimeout(() => {
          done += 1
          resolve()
        }, 3_000)
      }),
  }
}

export const queue = {
  /** @param {(job: Job) => void} handle */
  onJob(handle) {
    handle(nextJob())
    timer = setInterval(() => handle(nextJob()), 500)
  },
  pause: () => clearInterval(timer),
  /** @param {string} why */
  close(why) {
    if (begun !== done) throw new Error(`${begun - done} of ${begun} jobs were lost in a stop by ${why}`)
  },
}
