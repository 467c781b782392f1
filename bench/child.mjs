// @ts-check
import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const canPin = process.platform === 'linux' && spawnSync('taskset', ['--version']).status === 0

/** A program of this folder in a process of its own, which answers questions one at a time. */
export class Child {
  /**
   * @param {string} program
   * @param {unknown} setting its argument
   * @param {number} core where it runs, if the machine has a way to say so
   * @param {Record<string, string>} [environment] added to this process's own
   */
  constructor(program, setting, core, environment = {}) {
    const file = fileURLToPath(new URL(program, import.meta.url))
    const pinned = canPin ? { execPath: 'taskset', execArgv: ['-c', String(core), process.execPath] } : { execArgv: [] }
    this.process = fork(file, [JSON.stringify(setting)], { ...pinned, env: { ...process.env, ...environment } })
    /** @type {Promise<never>} */
    this.ended = once(this.process, 'exit').then(() => {
      throw new Error(`${program} has ended`)
    })
    this.ended.catch(() => {})
  }

  /** @param {object} question @returns {Promise<any>} */
  async ask(question) {
    const answered = once(this.process, 'message')
    this.process.send(question)
    const [answer] = await Promise.race([answered, this.ended])
    return answer
  }

  end() {
    this.process.kill('SIGKILL')
  }
}
