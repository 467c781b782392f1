// @ts-check
// What clients that never retry lose when a server leaves, and when three behind HAProxy are
// replaced: quiesce, bench/peers.mjs, Go's net/http and uvicorn, by the machinery and the
// definitions of the loss ledger (scripts/loss.mjs, test/loss). `LOSS_CLIENTS=40 LOSS_ROUNDS=3 npm
// run bench -- loss` has forty clients at each link, and three rounds: about half an hour each.
// `LOSS_SERVERS='quiesce, defaults;uvicorn'` has some of the servers.
import { spawnSync } from 'node:child_process'
import { playAll } from '../scripts/loss/rounds.mjs'
import { addRound, emptyTally } from '../scripts/loss/tally.mjs'
import { DIMENSIONS } from '../test/loss/cells.mjs'
import { plainestOf } from '../test/loss/clients.mjs'
import { isHttp2 } from '../test/loss/protocols.mjs'
import { prepare, REFERENCES } from '../test/loss/references.mjs'
import { DEFAULTS } from '../test/loss/replicas.mjs'
import { roll } from '../test/loss/rolling.mjs'
import { WORKS } from '../test/loss/works.mjs'
import { shuffled } from './in-turns.mjs'
import { PEERS, PEERS_OF_HTTP2 } from './peers.mjs'

/** As long as quiesce takes at most by default, away from platforms. */
const GRACE_MS = 8000
const LATE_MS = 100
/** A round that was late so often counts as it is, or a busy machine would never end. */
const TRIES = 2
/** Three links make about forty. */
const CLIENTS_PER_LINK = 14
const PROTOCOLS = /** @type {const} */ (['HTTP/1.1', 'HTTPS', 'h2'])
/**
 * Works that share a termination, and how long after its begin their clients leave a server that
 * goes on for as long as it is used. What lasts is left when the servers' grace is over.
 */
const GROUPS = [
  { works: WORKS.slice(0, 2), patienceMs: 2000 },
  { works: WORKS.slice(2), patienceMs: GRACE_MS + 1000 },
]
/** Behind HAProxy: the delay of quiesce that docs/proxies.md asks for, and none. */
const ROLLED = /** @type {const} */ ([
  ['quiesce, shutdownDelay 500ms', DEFAULTS, 500],
  [DEFAULTS, DEFAULTS, 0],
  ['server.close()', 'server.close()', 0],
  ['Go, Server.Shutdown', 'Go, Server.Shutdown', 0],
  ['uvicorn', 'uvicorn', 0],
])

/**
 * @typedef {import('../test/loss/replicas.mjs').ServerKind} ServerKind
 * @typedef {import('../test/loss/cells.mjs').Cell} Cell
 * @typedef {import('../scripts/loss/tally.mjs').Tally} Tally
 * @typedef {object} LossResult
 * @property {number} clientsPerLink
 * @property {number} rounds
 * @property {readonly CellResult[]} cells
 * @property {readonly EndResult[]} ends
 * @property {readonly (CellResult & { proxy: string })[]} rolled
 * @property {Record<string, string>} absent why a server was not measured
 * @property {number} spoiled rounds that were played again, because a client was late
 * @property {number} late of the rounds that count
 *
 * @typedef {Pick<Tally, 'clients' | 'losers' | 'lost' | 'neverAccepted' | 'refusedUntold' | 'crossed' | 'broken' | 'again' | 'refused'> &
 *   { server: string, protocol: string, work: string, link: number }} CellResult
 * @typedef {{ server: string, protocol: string, works: string, exits: Record<string, number>, longestMs: number }} EndResult
 */

/**
 * @param {object} how
 * @param {boolean} how.quick
 * @param {(line: string) => void} how.say
 * @returns {Promise<LossResult & { versions: Record<string, string> }>}
 */
export async function measureLoss({ quick, say }) {
  const clients = quick ? 4 : wholeFrom('LOSS_CLIENTS', CLIENTS_PER_LINK)
  const rounds = quick ? 1 : wholeFrom('LOSS_ROUNDS', 1)
  /** @type {Record<string, string>} */
  const absent = {}
  /** @type {Record<string, string>} */
  const versions = {}
  for (const name of /** @type {(keyof typeof REFERENCES)[]} */ (Object.keys(REFERENCES))) {
    const why = prepare(name)
    if (why === undefined) versions[name.split(',')[0] ?? name] = REFERENCES[name].version()
    else absent[name] = why
  }
  const all = /** @type {ServerKind[]} */ ([DEFAULTS, ...Object.keys(PEERS), ...Object.keys(REFERENCES)])
  const chosen = quick ? [DEFAULTS, 'server.close()'] : (process.env['LOSS_SERVERS']?.split(';') ?? all)
  const unknown = chosen.filter((name) => !all.some((one) => one === name))
  if (unknown.length > 0) throw new Error(`LOSS_SERVERS: got ${unknown.join('; ')}, allowed: ${all.join('; ')}`)
  for (const name of all) if (!quick && !chosen.includes(name)) absent[name] = 'not chosen'
  const servers = all.filter((name) => chosen.includes(name) && !(name in absent))
  const protocols = quick ? PROTOCOLS.slice(0, 1) : PROTOCOLS

  const tasks = shuffled(
    Array.from({ length: rounds }, (_, round) =>
      protocols.flatMap((protocol) =>
        servers
          .filter((server) => !isHttp2(protocol) || hasHttp2(server))
          .flatMap((server) =>
            GROUPS.map(({ works, patienceMs }) => ({
              cells: cellsOf(protocol, works),
              clients,
              server,
              seed: 1000 * (round + 1),
              graceMs: GRACE_MS,
              patienceMs,
            })),
          ),
      ),
    ).flat(),
  )
  say(`${tasks.length} terminations`)
  /** @type {Map<string, Tally & { who: string }>} */
  const tallies = new Map()
  /** @type {Map<string, { server: string, protocol: string, works: string, exits: Record<string, number>, longestMs: number }>} */
  const ends = new Map()
  let [spoiled, late, count] = [0, 0, 0]
  await playAll(tasks, {
    lateMs: LATE_MS,
    tries: TRIES,
    spoiled({ server, cells: [{ protocol }] }, { lagMs }) {
      spoiled++
      say(`${server}, ${protocol}: the clients were ${lagMs} ms late; again`)
    },
    played({ server, cells }, round) {
      if (round.lagMs > LATE_MS) late++
      for (const part of round.parts) addRound(tallyIn(tallies, server, part.cell), part, round, LATE_MS)
      const [{ protocol }] = cells
      const works = [...new Set(cells.map(({ method }) => method))].join(', ')
      const key = `${server} ${protocol} ${works}`
      const end = ends.get(key) ?? { server, protocol, works, exits: {}, longestMs: 0 }
      const exit = String(round.exit ?? 'SIGKILL')
      end.exits[exit] = (end.exits[exit] ?? 0) + 1
      end.longestMs = Math.max(end.longestMs, round.exitMs)
      ends.set(key, end)
      say(
        `${++count} of ${tasks.length}: ${server}, ${protocol}, ${works}: ${round.parts.map(({ ledger }) => ledger.lost.length).join(' ')}`,
      )
    },
  })

  /** @type {(CellResult & { proxy: string })[]} */
  const rolled = []
  if (spawnSync('haproxy', ['-v']).status !== 0) absent['HAProxy'] = 'not installed'
  else
    for (const [name, server, delay] of ROLLED.slice(0, quick ? 1 : ROLLED.length).filter(([, server]) => !(server in absent))) {
      for (let round = 0; round < rounds; round++) {
        const play = (/** @type {number} */ tried) =>
          roll({
            cells: cellsOf('HTTP/1.1', WORKS, delay),
            clients: Math.ceil(clients / 2),
            server,
            seed: 77 + round + tried,
            graceMs: GRACE_MS,
          })
        let played = await play(0)
        if (played.lagMs > LATE_MS) {
          spoiled++
          played = await play(1)
          if (played.lagMs > LATE_MS) late++
        }
        versions['HAProxy'] = played.proxy.replace('haproxy ', '')
        const counts = new Map()
        for (const part of played.parts) {
          addRound(
            tallyIn(counts, name, part.cell),
            part,
            {
              ...played,
              exit: undefined,
              exitMs: 0,
              report: undefined,
              misaudited: [],
              trace: [],
              parts: /** @type {any} */ (played.parts),
            },
            LATE_MS,
          )
        }
        rolled.push(...[...counts.values()].map((tally) => ({ ...resultOf(tally), proxy: 'HAProxy' })))
        say(
          `${name}, three behind HAProxy: ${played.parts.map(({ ledger }) => ledger.lost.length).join(' ')}; exits ${played.exits.join(', ')}`,
        )
      }
    }
  return {
    ...commandOf(quick),
    clientsPerLink: clients,
    rounds,
    cells: [...tallies.values()].map(resultOf),
    ends: [...ends.values()],
    rolled,
    absent,
    spoiled,
    late,
    versions,
  }
}

/** @param {string} name of a variable of the environment @param {number} otherwise */
function wholeFrom(name, otherwise) {
  const text = process.env[name]
  if (text !== undefined && !/^[1-9]\d*$/.test(text)) throw new Error(`${name}: got ${text}, allowed: a whole number above 0`)
  return text === undefined ? otherwise : Number(text)
}

/** What the frame does not know of. @param {boolean} quick */
function commandOf(quick) {
  const settings = ['LOSS_CLIENTS', 'LOSS_ROUNDS', 'LOSS_SERVERS'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [`${name}='${value}' `]
  })
  return settings.length === 0 || quick ? {} : { command: `${settings.join('')}npm run bench -- loss` }
}

/** @param {ServerKind} server */
const hasHttp2 = (server) =>
  server in REFERENCES
    ? REFERENCES[/** @type {keyof typeof REFERENCES} */ (server)].hasHttp2
    : !(server in PEERS) || PEERS_OF_HTTP2.some((name) => name === server)

/** @param {Cell['protocol']} protocol @param {readonly Cell['method'][]} works @param {number} [delay] */
const cellsOf = (protocol, works, delay = 0) =>
  /** @type {[Cell, ...Cell[]]} */ (
    works
      // No library here speaks WebSocket over HTTP/2.
      .filter((method) => method !== 'websocket' || !isHttp2(protocol))
      .flatMap((method) =>
        DIMENSIONS.link.map((link) => ({ protocol, delay, mode: 'refuse', link, client: plainestOf(protocol), method, load: 'quiet' })),
      )
  )

/** @param {Map<string, Tally>} tallies @param {string} who @param {Cell} cell */
function tallyIn(tallies, who, cell) {
  const key = JSON.stringify([who, cell])
  const tally = tallies.get(key) ?? emptyTally({ who, node: process.versions.node, cell })
  tallies.set(key, tally)
  return tally
}

/** @param {Tally} tally @returns {CellResult} */
const resultOf = ({ who, cell, clients, losers, lost, neverAccepted, refusedUntold, crossed, broken, again, refused }) => ({
  server: who,
  protocol: cell.protocol,
  work: cell.method,
  link: cell.link,
  clients,
  losers,
  lost,
  neverAccepted,
  refusedUntold,
  crossed,
  broken,
  again,
  refused,
})
