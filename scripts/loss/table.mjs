// @ts-check
import { readFileSync, writeFileSync } from 'node:fs'
import { DIMENSIONS, nameOf } from '../../test/loss/cells.mjs'
import { isHttp2 } from '../../test/loss/protocols.mjs'
import { keptResults, shortRows } from '../clients/tables.mjs'
import { isClean, sumOf } from './tally.mjs'

/** @typedef {import('./tally.mjs').Tally} Tally */

/** @param {readonly (readonly string[])[]} rows the first one is the header */
function table([header = [], ...rows]) {
  const line = (/** @type {readonly string[]} */ row) => `| ${row.join(' | ')} |`
  return [line(header), `|${header.map(() => '---|').join('')}`, ...rows.map(line)].join('\n')
}

/** @param {readonly Tally[]} tallies */
function square(tallies) {
  const [first, ...others] = tallies
  if (first === undefined) return '-'
  const { clients, lost, neverAccepted } = sumOf([first, ...others])
  return `${lost} of ${clients}${neverAccepted > 0 ? ` (${neverAccepted})` : ''}`
}

const linkHeaders = DIMENSIONS.link.map((link) => `${link} ms`)

/** quiesce: a row for each protocol, delay, mode and load. @param {readonly Tally[]} tallies */
function livesTable(tallies) {
  const rows = DIMENSIONS.protocol.flatMap((protocol) =>
    DIMENSIONS.load.flatMap((load) =>
      DIMENSIONS.delay.flatMap((delay) =>
        DIMENSIONS.mode.flatMap((mode) => {
          const of = tallies.filter(
            ({ cell }) => cell.protocol === protocol && cell.load === load && cell.delay === delay && cell.mode === mode,
          )
          const squares = DIMENSIONS.link.map((link) => square(of.filter(({ cell }) => cell.link === link)))
          return of.length === 0 ? [] : [[protocol, load, `${delay / 1000} s`, mode, ...squares]]
        }),
      ),
    ),
  )
  return table([['protocol', 'event loop', 'delay', 'mode', ...linkHeaders], ...rows])
}

/** What is no loss, and only HTTP/2 has. @param {readonly Tally[]} tallies */
function sentAgain(tallies) {
  const total = (/** @type {'again' | 'givenUp'} */ what) => tallies.reduce((sum, tally) => sum + tally[what], 0)
  return `${total('again')} requests to be sent again, ${total('givenUp')} given up by undici at a GOAWAY.`
}

/** A row for each peer and delay; the full accept queue in a column of its own. @param {readonly Tally[]} tallies */
function peersTable(tallies) {
  const names = [...new Set(tallies.map(({ who }) => who))]
  const rows = names.flatMap((name) =>
    DIMENSIONS.delay.flatMap((delay) => {
      const of = tallies.filter(({ cell, who }) => who === name && cell.delay === delay)
      const quiet = DIMENSIONS.link.map((link) => square(of.filter(({ cell }) => cell.load === 'quiet' && cell.link === link)))
      return of.length === 0 ? [] : [[name, `${delay / 1000} s`, ...quiet, square(of.filter(({ cell }) => cell.load === 'blocked'))]]
    }),
  )
  return table([['server', 'delay', ...linkHeaders, 'blocked at the close'], ...rows])
}

/**
 * For the README: what was measured over HTTP/1.1 of quiesce, with its defaults off Kubernetes, and
 * of the others from the one that lost least to the one that lost most. The rows of other protocols
 * are of `npm run test:clients`.
 * @param {readonly Tally[]} tallies
 */
export function summary(tallies) {
  const of = tallies.filter(({ cell }) => cell.protocol === 'HTTP/1.1' && cell.delay === 0 && cell.mode === DIMENSIONS.mode[0])
  const lostBy = (/** @type {(tally: Tally) => boolean} */ isOf) => {
    const names = [...new Set(of.filter(isOf).map(({ who }) => who))]
    const sums = names.map((name) => sumOf(/** @type {[Tally, ...Tally[]]} */ (of.filter((tally) => isOf(tally) && tally.who === name))))
    const lost = sums.map((sum) => sum.lost)
    const [least, most] = [Math.min(...lost), Math.max(...lost)]
    return `${least === most ? least : `${least} to ${most}`} of ${Math.max(...sums.map(({ clients }) => clients))}`
  }
  const row = (/** @type {string} */ name, /** @type {(tally: Tally) => boolean} */ isOf) => [
    `HTTP/1.1, ${name}`,
    `${lostBy((tally) => isOf(tally) && tally.who === 'quiesce')} clients`,
    lostBy((tally) => isOf(tally) && tally.who !== 'quiesce'),
  ]
  const rows = [
    ...DIMENSIONS.link.map((link) => row(`${link} ms`, ({ cell }) => cell.load === 'quiet' && cell.link === link)),
    row('event loop blocked for 300 ms', ({ cell }) => cell.load === 'blocked'),
  ]
  return [
    table([['protocol, and network delay each way', 'quiesce', '`server.close()` and other libraries'], ...rows]),
    ...shortRows(keptResults()),
  ].join('\n')
}

/** A line for each version of Node. @param {readonly Tally[]} lives */
function roundsPerCell(lives) {
  const lines = [...new Set(lives.map(({ node }) => node))].map((node) => {
    const cells = lives.filter((tally) => tally.node === node)
    const perDelay = [...new Set(cells.map(({ cell: { delay } }) => delay))].map((delay) => {
      const counts = cells.filter(({ cell }) => cell.delay === delay).map(({ rounds }) => rounds)
      const [least, most] = [Math.min(...counts), Math.max(...counts)]
      return `${least === most ? least : `${least} to ${most}`} with a delay of ${delay / 1000} s`
    })
    const clients = [...new Set(cells.map(({ clients, rounds }) => clients / rounds))].join(' or ')
    return `- Node ${node}, ${cells.length} cells, rounds of each with ${clients} clients: ${perDelay.join(', ')}`
  })
  return lines.join('\n')
}

/** What stands in docs/performance.md. @param {readonly Tally[]} tallies @param {string} command @param {number} lateMs what spoils a round */
export function markdown(tallies, command, lateMs) {
  const lives = tallies.filter(({ who }) => who === 'quiesce')
  const peers = tallies.filter(({ who }) => who !== 'quiesce')
  const sum = (/** @type {readonly Tally[]} */ of, /** @type {'terminations' | 'spoiled' | 'late'} */ what) =>
    of.reduce((total, tally) => total + tally[what], 0)
  const nodesOf = (/** @type {readonly Tally[]} */ of) => [...new Set(of.map(({ node }) => node))].join(', ')
  const lateness = () => {
    const late = sum(tallies, 'late')
    const again = `${sum(tallies, 'spoiled')} more in which a client process was over ${lateMs} ms late were played again`
    return `${again}${late > 0 ? `; ${late} of the terminations are among them all the same, after several tries` : ''}.`
  }
  const dirty = lives.filter((tally) => !isClean(tally))
  return [
    `\`${command}\`, ${new Date().toISOString().slice(0, 10)}, Node ${nodesOf(tallies)}: ${sum(tallies, 'terminations')} terminations.`,
    lateness(),
    ...(lives.length > 0 ? [roundsPerCell(lives)] : []),
    ...(lives.length > 0 ? [`Lost, of so many clients (of these on connections that the server never accepted):`, livesTable(lives)] : []),
    ...(lives.some(({ cell }) => isHttp2(cell.protocol)) ? [sentAgain(lives)] : []),
    ...(dirty.length > 0
      ? [['Cells with a loss:', ...dirty.map((tally) => `- Node ${tally.node}: ${nameOf(tally.cell)}: ${square([tally])}`)].join('\n')]
      : []),
    ...(peers.length > 0
      ? [`Other ways to end a server (Node ${nodesOf(peers)}), with a sleep in front where there is a delay:`, peersTable(peers)]
      : []),
  ].join('\n\n')
}

/**
 * Replaces what stands between `<!-- NAME: written by npm run test:loss -- --write -->` and `<!-- /NAME -->` in a document.
 * @param {string} file @param {string} name @param {(before: string) => string} textOf of what stands there now
 */
export function writeBetweenMarkers(file, name, textOf) {
  const begin = `<!-- ${name}: written by npm run test:loss -- --write -->`
  const end = `<!-- /${name} -->`
  const whole = readFileSync(file, 'utf8')
  const [before, rest] = whole.split(begin)
  const [now, after] = rest?.split(end) ?? []
  if (before === undefined || now === undefined || after === undefined) throw new Error(`${file} has no ${begin} … ${end}`)
  writeFileSync(file, `${before}${begin}\n\n${textOf(now)}\n\n${end}${after}`)
}
