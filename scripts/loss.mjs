// @ts-check
// `npm run test:loss`: forty clients that never retry, through one termination after the other, in
// every combination of protocol, shutdown delay, mode, link, client, method and load (test/loss/cells.mjs);
// what they lost, for each. A cell of quiesce passes when it lost nothing.
//
//   --rounds 20          rounds of each cell; 1 unless told otherwise: the whole cross takes about 9 minutes on two quiet cores then
//   --together 40        cells that differ in link, client and method alone share their terminations, with so many clients of each; a table of its own
//   --protocol HTTPS,h2 --delay 0,500 --mode refuse --link 15 --client raw,undici --method POST --load quiet,busy,blocked
//                        some of the cross; `blocked` (a full accept queue at the close) is with the plainest client of each protocol and GET unless it is named
//   --last-call 400ms    another bound than the default
//   --server 'created Hono'   one kind of server; all kinds take turns unless it is named
//   --apiserver          an API server with every filter on; its audit log has every answer exactly once, or the cell fails
//   --resources          the same, and its clients read and create objects
//   --peers              the same for other ways to end a server (bench/peers.mjs), which are counted and not judged; --peers only: for them alone
//   --nodes 20,22,24,26  under these versions of Node, from npm
//   --seed 123           the choices of an earlier run, which printed its seed: gaps, requests, which connections are told early
//   --jobs 1             how many processors to fill
//   --late 100           milliseconds by which a client process may be late; a round in which one was later says nothing, and is played again, up to four times
//   --cap 1              rounds of the cells with a delay of 5 s, if those are to be fewer
//   --show 3             so many losses in full: the client's own history, and what the server says of that connection
//   --tables             plays nothing: the tables of the last runs with the same options, one version of Node after the other, or the peers alone
//   --write              puts the tables into docs/performance.md, and with --peers a summary into README.md
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { PEERS } from '../bench/peers.mjs'
import { cellsOf, DIMENSIONS, nameOf } from '../test/loss/cells.mjs'
import { CLIENTS_OF, plainestOf } from '../test/loss/clients.mjs'
import { API_SERVER, LIVES, livesOf, RESOURCES } from '../test/loss/replicas.mjs'
import { CLIENTS } from '../test/loss/round.mjs'
import { generator } from '../test/support/random.mjs'
import { playAll } from './loss/rounds.mjs'
import { markdown, summary, writeBetweenMarkers } from './loss/table.mjs'
import { addRound, emptyTally, isClean, lineOf, sumOf } from './loss/tally.mjs'
import { givenArguments, wholeNumber } from './usage.mjs'

/**
 * @typedef {import('./loss/tally.mjs').Tally} Tally
 * @typedef {import('../test/loss/cells.mjs').Cell} Cell
 * @typedef {import('./loss/rounds.mjs').Task['server']} Server
 */

const args = process.argv.slice(2)
const { values } = givenArguments({
  args: args.map((arg, at) => (arg === '--peers' && args[at + 1] !== 'only' ? '--peers=too' : arg)),
  options: {
    rounds: { type: 'string', default: '1' },
    together: { type: 'string' },
    protocol: { type: 'string' },
    delay: { type: 'string' },
    mode: { type: 'string' },
    link: { type: 'string' },
    client: { type: 'string' },
    method: { type: 'string' },
    load: { type: 'string' },
    'last-call': { type: 'string' },
    server: { type: 'string' },
    apiserver: { type: 'boolean', default: false },
    resources: { type: 'boolean', default: false },
    peers: { type: 'string' },
    nodes: { type: 'string' },
    seed: { type: 'string', default: String(Math.trunc(Math.random() * 2 ** 31)) },
    jobs: { type: 'string', default: String(availableParallelism()) },
    late: { type: 'string', default: '100' },
    cap: { type: 'string' },
    show: { type: 'string', default: '0' },
    tables: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const rounds = wholeNumber('--rounds', values.rounds, 1)
const clients = wholeNumber('--together', values.together ?? String(CLIENTS))
const seed = wholeNumber('--seed', values.seed)
const show = wholeNumber('--show', values.show)
const lateMs = wholeNumber('--late', values.late)
const cap = values.cap === undefined ? rounds : wholeNumber('--cap', values.cap)
const RESULTS = '.results/loss'
/** What is written, and about which protocols. @type {readonly [string, (protocol: Cell['protocol']) => boolean][]} */
const LEDGERS =
  values.together === undefined
    ? [
        ['loss ledger', (protocol) => protocol === 'HTTP/1.1'],
        ['loss ledger of HTTPS and HTTP/2', (protocol) => protocol !== 'HTTP/1.1'],
      ]
    : [['loss ledger of shared terminations', () => true]]
const root = fileURLToPath(new URL('..', import.meta.url))
process.chdir(root)

// What a connection did is only written down when it may be shown.
if (show > 0) process.env['TRACE'] = '1'
if (values.nodes === undefined) await playHere()
else playUnder(values.nodes.split(','))

/** All rounds under this Node; the tallies go to a file, too, for who plays under several. */
async function playHere() {
  const build = spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
  if (build.status !== 0) throw new Error('the build has errors (above)')
  /** @type {readonly import('./loss/rounds.mjs').Task[]} */
  const tasks = [...(values.peers === 'only' ? [] : tasksOfLives()), ...(values.peers === undefined ? [] : tasksOfPeers())]
  const begun = performance.now()
  console.log(`node ${process.versions.node}: ${tasks.length} terminations; seed ${seed}`)

  /** @type {Map<string, Tally & { open: number }>} */
  const tallies = new Map()
  const keyOf = (/** @type {Server} */ server, /** @type {Cell} */ cell) => `${whoIs(server)}: ${nameOf(cell)}`
  for (const { cells, server } of tasks) {
    for (const cell of cells) {
      const tally = tallies.get(keyOf(server, cell))
      if (tally) tally.open++
      else tallies.set(keyOf(server, cell), { ...emptyTally({ who: whoIs(server), node: process.versions.node, cell }), open: 1 })
    }
  }
  let shown = 0
  const tallyOf = (/** @type {Server} */ server, /** @type {Cell} */ cell) =>
    /** @type {Tally & { open: number }} */ (tallies.get(keyOf(server, cell)))
  await playAll(tasks, {
    played: (task, round) => {
      for (const part of round.parts) {
        const tally = tallyOf(task.server, part.cell)
        addRound(tally, part, round, lateMs)
        if (part.ledger.lost.length > 0 && whoIs(task.server) === 'quiesce' && shown++ < show) tell(task, part, round)
        if (--tally.open === 0 && tally.who === 'quiesce') console.log(lineOf(tally))
      }
    },
    spoiled: ({ cells: [cell], server }) => tallyOf(server, cell).spoiled++,
    lateMs,
    processors: wholeNumber('--jobs', values.jobs, 1),
  })
  const all = [...tallies.values()].map(({ open: _, ...tally }) => tally)
  mkdirSync(RESULTS, { recursive: true })
  for (const isPeers of [false, true]) {
    const part = all.filter(({ who }) => (who !== 'quiesce') === isPeers)
    if (part.length > 0) writeFileSync(fileOf(process.versions.node, isPeers), JSON.stringify(part))
  }
  console.log(`node ${process.versions.node}: ${Math.round((performance.now() - begun) / 1000)} s\n`)
  conclude(all)
}

/** @param {readonly string[]} versions */
function playUnder(versions) {
  /** @type {Tally[]} */
  const all = []
  let broken = 0
  const at = args.indexOf('--nodes')
  const rest = args.filter((arg, index) => index !== at && index !== at + 1 && !arg.startsWith('--nodes=') && arg !== '--write')
  for (const version of versions) {
    const script = ['--', 'node', 'scripts/loss.mjs', ...rest, `--seed=${seed}`]
    const of = ['-p', 'process.versions.node']
    const npx = ['-y', '-p', `node@${version}`]
    const exact = spawnSync('npx', [...npx, '--', 'node', ...of], { encoding: 'utf8' }).stdout.trim()
    const { status } = values.tables
      ? { status: 0 }
      : spawnSync('npx', [...npx, ...script], { stdio: 'inherit', env: { ...process.env, LOSS_PART: '1' } })
    if (status !== 0 && status !== 1) broken++
    else {
      if (values.peers !== 'only') all.push(...talliesIn(fileOf(exact, false)))
      if (values.peers !== undefined) all.push(...talliesIn(fileOf(exact, true)))
    }
  }
  conclude(all, broken)
}

/** @param {string} node @param {boolean} isPeers */
function fileOf(node, isPeers) {
  return `${RESULTS}/node-${node}${isPeers ? '-peers' : ''}.json`
}

/** None when there is no such file. @param {string} file @returns {Tally[]} */
function talliesIn(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : []
}

/** @param {readonly Tally[]} tallies @param {number} broken versions under which the run itself did not end */
function conclude(tallies, broken = 0) {
  const command = ['npm run test:loss --', ...args.filter((arg) => !['--write', '--tables'].includes(arg))].join(' ').replace(/ --$/, '')
  const lives = tallies.filter(({ who }) => who === 'quiesce')
  const failed = lives.filter((tally) => !isClean(tally)).length + broken
  if (process.env['LOSS_PART'] === undefined) {
    for (const [name, isAbout] of LEDGERS) {
      const about = tallies.filter(({ cell: { protocol } }) => isAbout(protocol))
      if (about.length === 0) continue
      const text = markdown(about, command, lateMs)
      console.log(`${text}\n`)
      if (values.write) writeBetweenMarkers('docs/performance.md', name, () => text)
    }
    if (values.write && values.peers !== undefined) writeBetweenMarkers('README.md', 'loss summary', () => summary(tallies))
    const [first, ...others] = lives
    if (first) console.log(lineOf(sumOf([first, ...others])).replace(nameOf(first.cell), 'all cells'))
  }
  process.exitCode = failed === 0 && tallies.length > 0 ? 0 : 1
  console.log(`${lives.length + broken - failed} passed, ${failed} failed`)
}

/** @param {Server} server */
function whoIs(server) {
  return server in PEERS ? server : 'quiesce'
}

/** What of the cross was asked for. @returns {Partial<import('../test/loss/cells.mjs').Choice>} */
function chosen() {
  return Object.fromEntries(
    Object.entries(DIMENSIONS).flatMap(([name, allowed]) => {
      const text = values[/** @type {keyof Cell} */ (name)]
      if (text === undefined) return []
      const unknown = text.split(',').filter((value) => !allowed.map(String).includes(value))
      if (unknown.length > 0) throw new Error(`--${name}: got ${unknown.join(', ')}, allowed: ${allowed.join(', ')}`)
      return [[name, allowed.filter((value) => text.split(',').includes(String(value)))]]
    }),
  )
}

/** Every cell as often as there are rounds, with the kinds of servers in turns. */
function tasksOfLives() {
  const { apiserver, resources, server } = values
  const named = [...(apiserver ? [API_SERVER] : []), ...(resources ? [RESOURCES] : [])]
  /** @type {(protocol: Cell['protocol']) => readonly (typeof LIVES[number] | typeof API_SERVER | typeof RESOURCES)[]} */
  const kindsOf = (protocol) => (named.length > 0 ? named : livesOf(protocol).filter((kind) => server === undefined || kind === server))
  if (server !== undefined && !LIVES.some((kind) => kind === server)) {
    throw new Error(`--server: got ${server}, allowed: ${LIVES.join(', ')}`)
  }
  const cells = cellsOf(chosen()).filter(
    ({ client, load, method, protocol }) =>
      kindsOf(protocol).length > 0 &&
      (load !== 'blocked' || values.load !== undefined || (client === plainestOf(protocol) && method === 'GET')),
  )
  const offset = generator(seed)
  return shared(cells).flatMap((cells, index) => {
    const [{ delay, protocol }] = cells
    const kinds = kindsOf(protocol)
    const from = Math.trunc(offset() * kinds.length)
    return Array.from({ length: delay < 5000 ? rounds : Math.min(rounds, cap) }, (_, round) => ({
      cells,
      clients,
      server: /** @type {(typeof LIVES)[number] | typeof API_SERVER | typeof RESOURCES} */ (kinds[(from + round) % kinds.length]),
      lastCall: values['last-call'],
      seed: seed + index * 10_000 + round * 100,
    }))
  })
}

/** Those that share their terminations: each has its own, or those that only their clients differ in. @param {readonly Cell[]} cells @returns {(readonly [Cell, ...Cell[]])[]} */
function shared(cells) {
  /** @type {Map<string, [Cell, ...Cell[]]>} */
  const groups = new Map()
  for (const cell of cells) {
    const { protocol, delay, mode, load } = cell
    const key = values.together === undefined ? nameOf(cell) : JSON.stringify([protocol, delay, mode, load])
    const group = groups.get(key)
    if (group) group.push(cell)
    else groups.set(key, [cell])
  }
  return [...groups.values()]
}

/** As many rounds of every delay, link and load, each with a client and a method by chance. */
function tasksOfPeers() {
  const random = generator(seed)
  const choice = {
    client: CLIENTS_OF['HTTP/1.1'],
    delay: [0, 500],
    load: /** @type {const} */ (['quiet', 'blocked']),
    ...chosen(),
    mode: /** @type {const} */ (['refuse']),
    protocol: /** @type {const} */ (['HTTP/1.1']),
  }
  const { client: kinds, method: methods = DIMENSIONS.method } = choice
  const cells = cellsOf({ ...choice, client: kinds.slice(0, 1), method: methods.slice(0, 1) })
  const pick = (/** @type {readonly any[]} */ from) => from[Math.trunc(random() * from.length)]
  return Object.keys(PEERS).flatMap((name) =>
    cells.flatMap((cell, index) =>
      Array.from({ length: rounds }, (_, round) => ({
        cells: /** @type {[Cell]} */ ([{ ...cell, client: pick(kinds), method: pick(methods) }]),
        clients: CLIENTS,
        server: /** @type {import('../bench/peers.mjs').Peer} */ (name),
        seed: seed + index * 10_000 + round * 100,
      })),
    ),
  )
}

/**
 * One loss in full.
 * @param {import('./loss/rounds.mjs').Task} task @param {import('../test/loss/round.mjs').Part} part @param {import('./loss/rounds.mjs').Round} round
 */
function tell({ server, seed }, { cell, ledger }, { lagMs, trace }) {
  const [loss] = ledger.lost
  console.log(`a loss of ${server}: ${nameOf(cell)}; seed ${seed}; clients up to ${lagMs} ms late; ${JSON.stringify(loss, null, 2)}`)
  const about = trace.filter((line) => line.endsWith(`:${loss?.port}`) || line.includes(`:${loss?.port} `) || !/:\d+( |$)/.test(line))
  console.log(about.map((line) => `  server: ${line}`).join('\n'))
}
