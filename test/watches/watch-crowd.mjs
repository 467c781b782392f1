// @ts-check
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {object} Run what became of a crowd of event streams when their server was ended; times are milliseconds since SIGTERM, on the clients' clock
 * @property {number} whole streams that came to their end
 * @property {number} brokenOff those whose connection was closed before
 * @property {readonly number[]} endedAt of every whole one, in order
 * @property {number | null} exitCode
 * @property {number} exitedAt
 * @property {import('../../src/report/report.ts').Report} report
 */

/** Connections that are made at a time: more than the backlog of a listener would be refused. */
const AT_ONCE = 200
const LAST_CHUNK = '0\r\n\r\n'

/**
 * Opens so many event streams at a server of its own, ends it by SIGTERM once all of them have begun, and sees what each client gets.
 * @param {{ count: number, graceMs: number, needMs: number }} options `needMs`: what a handler takes to end once it was told
 * @returns {Promise<Run>}
 */
export async function runCrowd({ count, graceMs, needMs }) {
  const directory = mkdtempSync(join(tmpdir(), 'quiesce-watches-'))
  const reportFile = join(directory, 'report.json')
  const program = fileURLToPath(new URL('watch-server.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, JSON.stringify({ graceMs, needMs })], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, REPORT_FILE: reportFile },
  })
  const exited = once(child, 'exit')
  try {
    const [line] = await once(createInterface(child.stdout), 'line')
    const port = Number(line)
    /** @type {Promise<number | undefined>[]} */
    const ends = []
    while (ends.length < count) {
      const batch = Array.from({ length: Math.min(AT_ONCE, count - ends.length) }, () => stream(port))
      await Promise.all(batch.map(({ begun }) => begun))
      ends.push(...batch.map(({ ended }) => ended))
    }
    const stoppedAt = performance.now()
    child.kill('SIGTERM')
    const [exitCode] = await exited
    const exitedAt = performance.now() - stoppedAt
    const endedAt = (await Promise.all(ends)).flatMap((at) => (at === undefined ? [] : [at - stoppedAt])).sort((a, b) => a - b)
    const report = JSON.parse(readFileSync(reportFile, 'utf8'))
    return { whole: endedAt.length, brokenOff: count - endedAt.length, endedAt, exitCode, exitedAt, report }
  } finally {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * One event stream, byte by byte: when it had its first frame, and when it came to its end, or undefined when it was broken off.
 * @param {number} port
 */
function stream(port) {
  const socket = connect({ port, host: '127.0.0.1' })
  let tail = ''
  /** @type {number | undefined} */
  let endedAt
  socket.write('POST /stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n')
  /** @type {Promise<void>} */
  const begun = new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('closed before its first frame')))
    socket.on('data', (bytes) => {
      tail = (tail + bytes.toString('latin1')).slice(-400)
      if (tail.includes('first')) resolve()
      if (tail.endsWith(LAST_CHUNK)) endedAt ??= performance.now()
    })
  })
  /** @type {Promise<number | undefined>} */
  const ended = new Promise((resolve) => socket.on('close', () => resolve(endedAt)))
  return { begun, ended }
}

/**
 * The most ends within 100 ms: as many clients come back at a time, somewhere else.
 * @param {readonly number[]} endedAt
 */
export function peakPer100Ms(endedAt) {
  let most = 0
  for (let from = 0, to = 0; to < endedAt.length; to++) {
    while (/** @type {number} */ (endedAt[to]) - /** @type {number} */ (endedAt[from]) > 100) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}
