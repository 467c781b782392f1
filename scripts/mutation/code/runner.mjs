// @ts-check
// Asks a warm session which test notices an edit, and begins a new one when an edit hangs the
// tests.
import { fork } from 'node:child_process'

const SESSION = new URL('session.mjs', import.meta.url)
/** Longer than the tests of an area take on a busy machine; an edit that takes longer hangs. */
const HANG_MS = 15 * 60_000

/** @typedef {import('./operators.mjs').Edit} Edit */

export class Runner {
  /** @type {import('node:child_process').ChildProcess | undefined} */
  #session

  /**
   * The first test that fails with an edit.
   * @param {string} file
   * @param {Edit} edit
   * @param {readonly string[]} tests
   * @returns {Promise<string | undefined>}
   */
  failureOf(file, { start, end, text }, tests) {
    return this.#ask({ file, edit: { start, end, text }, tests })
  }

  end() {
    // Its own group: the processes of tests that hang hear nothing.
    if (this.#session?.pid !== undefined) process.kill(-this.#session.pid, 'SIGKILL')
    this.#session = undefined
  }

  /** @param {import('./session.mjs').Task} task @returns {Promise<string | undefined>} */
  async #ask(task) {
    this.#session ??= await begun()
    const session = this.#session
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        over()
        this.end()
        resolve('hangs')
      }, HANG_MS)
      const onMessage = (/** @type {{ failure?: string }} */ { failure }) => {
        over()
        resolve(failure)
      }
      const onExit = () => {
        over()
        this.#session = undefined
        reject(new Error(`the session ended with ${task.file}`))
      }
      const over = () => {
        clearTimeout(timer)
        session.off('message', onMessage).off('exit', onExit)
      }
      session.on('message', onMessage).on('exit', onExit)
      session.send(task)
    })
  }
}

async function begun() {
  const session = fork(SESSION, { detached: true, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  await new Promise((resolve) => session.once('message', resolve))
  return session
}
