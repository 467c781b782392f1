// @ts-check
// What the whole life of a server costs: processor time of its start, of idling and of its end; the
// longest step of the event loop in the end, the time from the last response to the exit, and the
// end with a thousand idle connections; of quiesce and of its peers, in turns, each in processes of
// its own. Then how crowds of watches end.
import { fork } from 'node:child_process'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CONTROL, OURS, PLAIN, SUBJECTS } from './end-subjects.mjs'
import { shuffled } from './in-turns.mjs'
import { measureWatches } from './mixed-watches.mjs'
import { summarize } from './statistics.mjs'

/** How long a server idles at least before it ends: a minute, or what BENCH_IDLE_S says. */
const IDLE_S = Number(process.env['BENCH_IDLE_S'] ?? 60)
/**
 * Crowds of watches. Over HTTP/1.1 each takes a file of its own, and many machines have 20 000 for
 * a process: BENCH_WATCHES=10000,50000 for more.
 */
const CROWDS = /** @type {const} */ ([
  ...(process.env['BENCH_WATCHES'] ?? '10000')
    .split(',')
    .map((count) => ({ count: Number(count), protocol: /** @type {const} */ ('HTTP/1.1') })),
  { count: 50_000, protocol: 'HTTP/2' },
])
const QUICK_CROWDS = CROWDS.map((crowd) => ({ ...crowd, count: 1000 }))
/** Servers of each kind that idle beside each other, and how often: memory bounds the former. */
const [IDLE_COPIES, IDLE_BATCHES] = [3, 2]
const ROUNDS = 6
/** Whose longest step of the event loop is looked for. */
const STEPPED = [...OURS, PLAIN, CONTROL]
/** How long an end is waited for before the next server starts. */
const WAIT_MS = 1500
/** Idle connections of the scene 'kept'. */
const KEPT = 1000
/** From a request before the end to the signal. */
const QUIET_MS = 200
/** Into the request that is in flight when the signal comes. */
const INTO_REQUEST_MS = 50

/**
 * @typedef {{ cpuMs: number, wallMs: number }} Took
 * @typedef {Took & { startMs: number, idleMs: number, totalMs: number, longestStepMs: number, afterResponseMs: number, start: Took | undefined }} Ended
 * @typedef {'idle' | 'steps' | 'in flight' | 'kept'} Scene
 * @typedef {import('./statistics.mjs').Summary} Summary
 */
/**
 * @typedef {object} OfSubject all in milliseconds, but for the shares; CPU unless it says otherwise
 * @property {Summary} life
 * @property {Summary} ofPlain the life, as a multiple of that of `server.close()`
 * @property {Summary} start
 * @property {Summary} idle
 * @property {Summary} end
 * @property {Summary} [longestStep] time
 * @property {Summary} afterResponse time from the last response to the exit
 * @property {Summary} keptEnd with a thousand idle connections
 * @property {Summary} keptExit time from the signal to the exit then
 * @property {Summary} [starting] of start() alone, for what has one
 */
/** @typedef {{ idleS: number, kept: number, subjects: Record<string, OfSubject>, watches: readonly import('./mixed-watches.mjs').Watches[] }} Life */

/** @typedef {{ end: () => Promise<Ended> }} Begun */

/** @param {string} subject @param {Scene} scene @returns {Promise<Begun>} */
async function begin(subject, scene) {
  const name = subject === CONTROL ? PLAIN : subject
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
    const kept = scene === 'kept' ? await Promise.all(Array.from({ length: KEPT }, () => keptConnection(port))) : []
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
    for (const socket of kept) socket.destroy()
    return { ...JSON.parse(said), afterResponseMs: exitedAt - respondedAt, start }
  }
  return { end }
}

/** @param {number} port @param {string} path @param {Agent} agent @returns {Promise<void>} */
const request = (port, path, agent) =>
  new Promise((resolve, reject) => {
    get({ port, path, agent, host: '127.0.0.1' }, (response) => response.resume().on('end', resolve)).on('error', reject)
  })

/** A connection that has had its answer and stays. @param {number} port @returns {Promise<import('node:net').Socket>} */
const keptConnection = (port) =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', reject)
    socket.once('data', () => resolve(socket.resume()))
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  })

/** @typedef {Map<string, Record<Scene, Ended[]>>} Lives */

/** Servers that live beside each other for as long as one idles. @param {Lives} lives @param {number} copies @param {number} idleS */
async function idleBatch(lives, copies, idleS) {
  /** @type {{ subject: string, begun: Begun }[]} */
  const servers = []
  // One after the other, so that each start is measured by itself.
  for (const subject of shuffled(Array.from({ length: copies }, () => SUBJECTS).flat()))
    servers.push({ subject, begun: await begin(subject, 'idle') })
  await sleep(idleS * 1000)
  for (const { subject, begun } of servers) lives.get(subject)?.idle.push(await begun.end())
}

/** @param {string} subject @returns {readonly Scene[]} beside idling; the steps of others say nothing about ours */
const scenesOf = (subject) => [...(STEPPED.includes(subject) ? /** @type {const} */ (['steps']) : []), 'in flight', 'kept']

/**
 * Watching the steps costs processor time, so that it has processes of its own; so has each scene.
 * One that waits for its clients to leave is not waited for.
 * @param {Lives} lives
 */
async function shortRound(lives) {
  /** @type {Promise<void>[]} */
  const ends = []
  for (const { subject, scene } of shuffled(SUBJECTS.flatMap((subject) => scenesOf(subject).map((scene) => ({ subject, scene }))))) {
    const { end } = await begin(subject, scene)
    const ended = end().then((one) => {
      lives.get(subject)?.[scene].push(one)
    })
    ends.push(ended)
    await Promise.race([ended, sleep(WAIT_MS)])
  }
  await Promise.all(ends)
}

/** @param {Lives} lives @param {string} subject @returns {OfSubject} */
function summaryOf(lives, subject) {
  const own = lives.get(subject)
  const of = (/** @type {Scene} */ scene, /** @type {(ended: Ended) => number} */ what) => (own?.[scene] ?? []).map(what)
  const plain = lives.get(PLAIN)?.idle ?? []
  const starts = (own?.idle ?? []).flatMap(({ start }) => (start ? [start.cpuMs] : []))
  return {
    life: summarize(of('idle', ({ totalMs }) => totalMs)),
    ofPlain: summarize(of('idle', ({ totalMs }) => totalMs).map((ms, round) => ms / (plain[round]?.totalMs ?? Number.NaN))),
    start: summarize(of('idle', ({ startMs }) => startMs)),
    idle: summarize(of('idle', ({ idleMs }) => idleMs)),
    end: summarize(of('idle', ({ cpuMs }) => cpuMs)),
    ...(STEPPED.includes(subject) && { longestStep: summarize(of('steps', ({ longestStepMs }) => longestStepMs)) }),
    afterResponse: summarize(of('in flight', ({ afterResponseMs }) => afterResponseMs)),
    keptEnd: summarize(of('kept', ({ cpuMs }) => cpuMs)),
    keptExit: summarize(of('kept', ({ wallMs }) => wallMs)),
    ...(starts.length > 0 && { starting: summarize(starts) }),
  }
}

/** @param {{ quick: boolean, say: (line: string) => void }} how @returns {Promise<Life>} */
export async function measureLife({ quick, say }) {
  const [batches, copies, rounds, idleS] = quick ? [1, 1, 1, 1] : [IDLE_BATCHES, IDLE_COPIES, ROUNDS, IDLE_S]
  /** @type {Lives} */
  const lives = new Map(SUBJECTS.map((subject) => [subject, { idle: [], steps: [], 'in flight': [], kept: [] }]))
  for (let batch = 0; batch < batches; batch++) {
    say(`${copies} of each server, idle for ${idleS} s: ${batch + 1} of ${batches}`)
    await idleBatch(lives, copies, idleS)
  }
  for (let round = 0; round < rounds; round++) {
    say(`ends with something to do: ${round + 1} of ${rounds}`)
    await shortRound(lives)
  }
  /** @type {import('./mixed-watches.mjs').Watches[]} */
  const watches = []
  for (const { count, protocol } of quick ? QUICK_CROWDS : CROWDS) {
    say(`${count} watches over ${protocol}`)
    watches.push(await measureWatches(count, protocol))
  }
  return { idleS, kept: KEPT, subjects: Object.fromEntries(SUBJECTS.map((subject) => [subject, summaryOf(lives, subject)])), watches }
}
