// @ts-check
// Clients that write and read notes, and never ask twice: what is not answered as it has to be is lost.
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** @typedef {{ type: string, name: string, version: string }} Acknowledged */

const NOTES = '/apis/clients.example/v1/namespaces/default/notes'
const OF_EACH = 4

export class Writers {
  #port
  #pauseMs
  #isOver = false
  #number = 0
  /** @type {Promise<void>[]} */
  #lanes = []
  /** What was answered, in its order. @type {Acknowledged[]} */
  acknowledged = []
  /** @type {string[]} */
  lost = []
  answered = 0

  /** @param {number} port @param {number} pauseMs between two requests of one client */
  constructor(port, pauseMs) {
    this.#port = port
    this.#pauseMs = pauseMs
  }

  /** @param {{ writers: number, readers: number }} counts */
  begin({ writers, readers }) {
    for (let at = 0; at < writers; at++) this.#lanes.push(this.#lane((ask) => this.#write(ask, at)))
    for (let at = 0; at < readers; at++) this.#lanes.push(this.#lane((ask) => this.#read(ask)))
  }

  async end() {
    this.#isOver = true
    await Promise.all(this.#lanes)
  }

  /** @param {string} name */
  async create(name) {
    await this.#lane((ask) => this.#create(ask, name))
  }

  /** Each has a connection of its own, which it uses again. @param {(ask: Ask) => Promise<unknown>} work */
  async #lane(work) {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    await work(async (expected, method, path, body) => {
      const given = await this.#ask(agent, method, path, body).catch((/** @type {NodeJS.ErrnoException} */ error) => ({
        status: 0,
        text: `${error.code ?? ''} ${error.message}`,
      }))
      await sleep(this.#pauseMs)
      if (!expected.includes(given.status)) {
        this.lost.push(`${method} ${path}: ${given.status} ${given.text.slice(0, 300)}`)
        return undefined
      }
      this.answered++
      return { status: given.status, object: given.text === '' ? {} : JSON.parse(given.text) }
    })
    agent.destroy()
  }

  /** @param {Agent} agent @param {string} method @param {string} path @param {object} [body] @returns {Promise<{ status: number, text: string }>} */
  #ask(agent, method, path, body) {
    return new Promise((resolve, reject) => {
      const headers = body ? { 'Content-Type': 'application/json' } : {}
      const asked = request({ agent, host: '127.0.0.1', port: this.#port, method, path, headers }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
        answer.on('error', reject)
      })
      asked.on('error', reject).end(body && JSON.stringify(body))
    })
  }

  /** @param {Ask} ask @param {string} name */
  async #create(ask, name) {
    const object = { apiVersion: 'clients.example/v1', kind: 'Note', metadata: { name }, number: ++this.#number }
    const made = await ask([201], 'POST', NOTES, object)
    return this.#acknowledge('ADDED', name, made)
  }

  /** @param {string} type @param {string} name @param {Answer | undefined} answer */
  #acknowledge(type, name, answer) {
    const version = answer?.object.metadata?.resourceVersion
    if (version !== undefined) this.acknowledged.push({ type, name, version })
    return answer?.object
  }

  /** Created, changed, read by whichever replica is next, and deleted. @param {Ask} ask @param {number} lane */
  async #write(ask, lane) {
    for (let at = 0; !this.#isOver; at++) {
      const name = `n${lane}-${at % OF_EACH}`
      const path = `${NOTES}/${name}`
      let object = await this.#create(ask, name)
      for (let change = 0; change < 2 && object; change++) {
        object = this.#acknowledge('MODIFIED', name, await ask([200], 'PUT', path, { ...object, number: ++this.#number }))
        const read = await ask([200], 'GET', path)
        if (read && object && read.object.metadata.resourceVersion !== object.metadata.resourceVersion)
          this.lost.push(`${name} was written at ${object.metadata.resourceVersion}, and read at ${read.object.metadata.resourceVersion}`)
      }
      await ask([200], 'DELETE', path)
      await ask([404], 'GET', path)
    }
  }

  /** @param {Ask} ask */
  async #read(ask) {
    while (!this.#isOver) await ask([200], 'GET', NOTES)
  }
}

/** @typedef {{ status: number, object: any }} Answer */
/** @typedef {(expected: readonly number[], method: string, path: string, body?: object) => Promise<Answer | undefined>} Ask the answer, undefined where it was lost */
