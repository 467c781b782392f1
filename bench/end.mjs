// @ts-check
// What the whole life of a server costs: processor time of its start, of a minute of idling and of
// its end; with the longest step of the event loop in the end, and the time from the last response
// to the exit; of quiesce and of its peers, in turns, each in processes of its own.
// `node bench/end.mjs [rounds]`; the second copy of `server.close()` is the A/A control.
import { fork } from 'node:child_process'
import { Agent, get } from 'node:http'
import { availableParallelism, cpus } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { PEERS } from './peers.mjs'
import { summarize } from './statistics.mjs'

const ROUNDS = Number(process.argv[2] ?? 11)
const CONTROL = 'server.close(), a second one (A/A)'
const SUBJECTS = ['quiesce, attached', 'quiesce, attached, second life', 'quiesce, created Hono', ...Object.keys(PEERS), CONTROL]
/** How long a server idles at least before it ends. */
const LIFE_MS = 60_000
/** From a request before the end to the signal. */
const QUIET_MS = 200
/** Into the request that is in flight when the signal comes. */
const INTO_REQUEST_MS = 50

/** Milliseconds. */
const TARGETS = { longestStepMs: 5, afterResponseMs: 20, secondStartMs: 3 }

/**
 * @typedef {{ cpuMs: number, wallMs: number }} Took
 * @typedef {Took & { startMs: number, idleMs: number, totalMs: number, longestStepMs: number, afterResponseMs: number, start: Took | undefined }} Ended
 * @typedef {'idle' | 'steps' | 'in flight'} Scene
 */

/** @typedef {{ end: () => Promise<Ended> }} Begun */

/** @param {string} subject @param {Scene} scene @returns {Promise<Begun>} */
async function begin(subject, scene) {
  const name = subject === CONTROL ? 'server.close()' : subject
  const server = fork(
    fileURLToPath(new URL('end-server.mjs', import.meta.url)),
    [JSON.stringify({ subject: name, steps: scene === 'steps' })],
    {
      stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
    },
  )
  let said = ''
  server.stdout?.on('data', (chunk) => {
    said += chunk
  })
  // The exit, and not the end of its output, which comes later.
  const exited = new Promise((/** @type {(at: number) => void} */ resolve) => server.once('exit', () => resolve(performance.now())))
  const closed = new Promise((resolve) => server.once('close', resolve))
  const { port, start } = await new Promise((/** @type {(ready: { port: number, start?: Took }) => void} */ resolve, reject) => {
    server.once('message', (ready) => resolve(/** @type {never} */ (ready)))
    server.once('exit', (code) => reject(new Error(`${subject} has ended with ${code} before it served`)))
  })
  const end = async () => {
    const agent = new Agent({ keepAlive: true })
    await request(port, '/', agent)
    await sleep(QUIET_MS)
    let respondedAt = Number.NaN
    if (scene === 'in flight') {
      const response = request(port, '/slow', agent)
      await sleep(INTO_REQUEST_MS)
      server.kill('SIGTERM')
      await response
      respondedAt = performance.now()
    } else server.kill('SIGTERM')
    const exitedAt = await exited
    await closed
    agent.destroy()
    return { ...JSON.parse(said), afterResponseMs: exitedAt - respondedAt, start }
  }
  return { end }
}

/** @param {number} port @param {string} path @param {Agent} agent @returns {Promise<void>} */
const request = (port, path, agent) =>
  new Promise((resolve, reject) => {
    get({ port, path, agent, host: '127.0.0.1' }, (response) => response.resume().on('end', resolve)).on('error', reject)
  })

/** @template T @param {readonly T[]} items @returns {T[]} */
function shuffled(items) {
  const left = [...items]
  return items.map(() => /** @type {T} */ (left.splice(Math.floor(Math.random() * left.length), 1)[0]))
}

/** @type {Map<string, Record<Scene, Ended[]>>} */
const measured = new Map(SUBJECTS.map((subject) => [subject, { idle: [], steps: [], 'in flight': [] }]))
for (let round = 0; round < ROUNDS; round++) {
  // Watching the steps costs processor time, so that it has a process of its own.
  const scenes = SUBJECTS.flatMap((subject) => /** @type {const} */ (['idle', 'steps', 'in flight']).map((scene) => ({ subject, scene })))
  /** @type {{ subject: string, scene: Scene, begun: Begun }[]} */
  const servers = []
  // One after the other, so that each start is measured by itself; they live beside each other.
  for (const { subject, scene } of shuffled(scenes)) servers.push({ subject, scene, begun: await begin(subject, scene) })
  await sleep(LIFE_MS)
  for (const { subject, scene, begun } of servers) measured.get(subject)?.[scene].push(await begun.end())
  process.stderr.write(`round ${round + 1} of ${ROUNDS}\n`)
}

/** @param {readonly number[]} values @param {number} [target] */
function cell(values, target) {
  const { median, interval } = summarize(values)
  const [low, high] = interval
  const text = `${median.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`
  return target === undefined ? text : `${text}${high <= target ? '; met' : low > target ? '; missed' : '; not decided'}`
}

const OURS = (/** @type {string} */ subject) => subject.startsWith('quiesce')
const [cpu] = cpus()
const lines = [
  `Measured on ${availableParallelism()} cores of an ${cpu?.model ?? 'unknown processor'}, Node ${process.versions.node}, ${ROUNDS} rounds; medians with the interval of the median, in ms.`,
  '',
  `| server | CPU of its life | its start, with what it loads | a minute of idling | its end: from signal to exit | longest step (${TARGETS.longestStepMs}) | last response to exit (${TARGETS.afterResponseMs}) | CPU of start() | start to serving |`,
  '|---|---|---|---|---|---|---|---|---|',
  ...[...measured].map(([subject, ended]) => {
    const targets = OURS(subject) ? TARGETS : undefined
    const starts = ended.idle.flatMap(({ start }) => (start ? [start] : []))
    const secondStart = subject.endsWith('second life') ? TARGETS.secondStartMs : undefined
    return `| ${[
      subject,
      cell(ended.idle.map(({ totalMs }) => totalMs)),
      cell(ended.idle.map(({ startMs }) => startMs)),
      cell(ended.idle.map(({ idleMs }) => idleMs)),
      cell(ended.idle.map(({ cpuMs }) => cpuMs)),
      cell(
        ended.steps.map(({ longestStepMs }) => longestStepMs),
        targets?.longestStepMs,
      ),
      cell(
        ended['in flight'].map(({ afterResponseMs }) => afterResponseMs),
        targets?.afterResponseMs,
      ),
      starts.length > 0
        ? cell(
            starts.map(({ cpuMs }) => cpuMs),
            secondStart,
          )
        : '',
      starts.length > 0 ? cell(starts.map(({ wallMs }) => wallMs)) : '',
    ].join(' | ')} |`
  }),
]
process.stdout.write(`${lines.join('\n')}\n`)
