// @ts-check
// `npm run test:soak -- --minutes 60`: real servers under real clients for an hour, which is the
// default. Two things go on at the same time: servers of every kind are ended by SIGTERM, one after
// the other, with settings, clients and loads by chance; and servers that stay have waves of clients,
// between which their memory is measured. It fails when a client has lost something, when an exit
// code is not 0, when a server that stays holds more and more, or when an audit log misses an answer.
// `--seed 123` makes the choices of an earlier run.
import { nameOf } from '../test/loss/cells.mjs'
import { generator } from '../test/support/random.mjs'
import { playAll } from './loss/rounds.mjs'
import { anyEnd } from './soak/ends.mjs'
import { STANDING, Standing } from './soak/standing.mjs'
import { givenArguments, wholeNumber } from './usage.mjs'

const { values } = givenArguments({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.trunc(Math.random() * 2 ** 31)) },
  },
})
const minutes = wholeNumber('--minutes', values.minutes, 1)
const seed = wholeNumber('--seed', values.seed, 1)
/** Clients that were later than this say nothing about a server. */
const LATE_MS = 100
const TRIES = 2
/** Ends between two looks at the clock. */
const BATCH = 2
/** Short enough for several in the two minutes that CI has. */
const WAVE_MS = Math.min(30_000, (minutes * 60_000) / 12)

// Its servers and clients end with it: they are killed when it exits, and a signal is no exit.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

const begun = performance.now()
const isOver = () => performance.now() - begun > minutes * 60_000
const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`)
/** @type {string[]} */
const wrong = []
/** Said at once, and again at the end. @param {string} what */
function fail(what) {
  wrong.push(what)
  say(`FAILED ${what}`)
}
const count = { ends: 0, late: 0, clients: 0, answered: 0, again: 0, crossed: 0 }
const counted = () =>
  `${count.ends} ends of ${count.clients} clients, ${count.answered} requests answered, ${count.again} to be sent again over HTTP/2, ${count.crossed} messages that crossed a close; ${count.late} ends with late clients`

async function endOneAfterTheOther() {
  const random = generator(seed)
  while (!isOver()) {
    await playAll(
      Array.from({ length: BATCH }, () => anyEnd(random)),
      {
        lateMs: LATE_MS,
        tries: TRIES,
        processors: 1,
        spoiled: () => {},
        played(task, round) {
          count.ends++
          for (const { clients, ledger } of round.parts) {
            count.clients += clients
            count.answered += ledger.answered + ledger.rejected
            count.again += ledger.again
            count.crossed += ledger.crossed ?? 0
          }
          if (round.lagMs > LATE_MS) count.late++
          else for (const what of wrongsOf(task, round)) fail(what)
        },
      },
    )
    say(`${((performance.now() - begun) / 60_000).toFixed(1)} min: ${counted()}; ${wrong.length} wrong`)
  }
}

/** @param {import('./loss/rounds.mjs').Task} task @param {import('./loss/rounds.mjs').Round} round */
function wrongsOf({ server, seed: itsSeed }, { parts, exit, misaudited }) {
  const losses = parts.flatMap(({ cell, ledger }) =>
    ledger.lost.length > (ledger.crossed ?? 0)
      ? [`${nameOf(cell)}: ${ledger.lost.length} lost, the first: ${ledger.lost[0]?.request}: ${ledger.lost[0]?.why}`]
      : [],
  )
  const exits = exit === 0 ? [] : [`${nameOf(parts[0].cell)}: exit code ${exit}`]
  const [misread] = misaudited
  const audits = misread === undefined ? [] : [`${misaudited.length} wrong in the audit log, the first: ${misread}`]
  return [...losses, ...exits, ...audits].map((what) => `${server}, seed ${itsSeed}: ${what}`)
}

/** @param {readonly Standing[]} standing */
async function visit(standing) {
  for (let wave = 0; !isOver(); wave++) for (const server of standing) await server.wave(WAVE_MS / standing.length, seed + wave)
}

say(`${minutes} minutes; seed ${seed}`)
const standing = await Promise.all(STANDING.map((one) => Standing.start(...one)))
await Promise.all([endOneAfterTheOther(), visit(standing)])
for (const server of standing) {
  say(server.line)
  wrong.push(...[...server.lost, ...server.leaks()].map((what) => `${server.name}, which stayed: ${what}`))
  const exit = await server.end()
  if (exit !== 0) wrong.push(`${server.name}, which stayed: exit code ${exit}`)
}
if (count.late === count.ends)
  wrong.push(`all ${count.ends} ends had clients that were over ${LATE_MS} ms late: this machine is too busy to judge one`)
for (const what of wrong) say(`FAILED ${what}`)
say(counted())
say(`${count.ends + standing.length - wrong.length} passed, ${wrong.length} failed`)
process.exitCode = wrong.length > 0 ? 1 : 0
