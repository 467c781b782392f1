// @ts-check
// How a crowd of watches of mixed kinds ends by SIGTERM, by their clients' own record: event streams
// and chunked watches, and over HTTP/1.1 WebSockets of the package ws, and WebSockets whose handler
// writes its own frames.
import { endsPer, KINDS, runMixed } from '../test/watches/mixed.mjs'
import { peakPer100Ms } from '../test/watches/watch-crowd.mjs'
import { summarize } from './statistics.mjs'

/** Half of the grace is for telling, so that 2 500 are told in a second, however many there are. */
const GRACE_MS_PER_WATCH = 0.8
/** What a whole end of each kind is. */
const WHOLE = ['whole', '1001']

/**
 * @typedef {object} Watches
 * @property {number} count
 * @property {import('../test/watches/mixed.mjs').Protocol} protocol
 * @property {number} graceMs
 * @property {number} whole those that came to their end, or were closed with 1001
 * @property {Record<string, Record<string, number>>} hows how many of each kind ended how
 * @property {number} idealPer100Ms the first half of the grace is for telling, at a steady rate
 * @property {readonly number[]} endsPer100Ms
 * @property {number} mostIn100Ms wherever they begin
 * @property {import('./statistics.mjs').Summary} offIdeal how far each 100 ms but the last are from the ideal, as a share of it
 * @property {number} lastEndMs since SIGTERM
 * @property {number} openMb memory of the server with all of them open
 * @property {number} mostMb the most from then on
 * @property {number} exitCode
 */

/** @param {number} count @param {import('../test/watches/mixed.mjs').Protocol} protocol @returns {Promise<Watches>} */
export async function measureWatches(count, protocol) {
  const graceMs = count * GRACE_MS_PER_WATCH
  const { ends, openMb, mostMb, report } = await runMixed({ count, graceMs, protocol })
  const endsPer100Ms = endsPer(ends)
  const idealPer100Ms = count / (graceMs / 2 / 100)
  return {
    count,
    protocol,
    graceMs,
    whole: ends.filter(({ how }) => WHOLE.includes(how)).length,
    hows: Object.fromEntries(KINDS.map((kind) => [kind, counted(ends.filter((end) => end.kind === kind).map(({ how }) => how))])),
    idealPer100Ms,
    endsPer100Ms,
    mostIn100Ms: peakPer100Ms(ends.map(({ at }) => at)),
    // The last one is what is left.
    offIdeal: summarize(endsPer100Ms.slice(0, -1).map((bin) => Math.abs(bin / idealPer100Ms - 1))),
    lastEndMs: Math.round(ends.at(-1)?.at ?? Number.NaN),
    openMb,
    mostMb,
    exitCode: report.exitCode,
  }
}

/** How often each word is there. @param {readonly string[]} words */
function counted(words) {
  /** @type {Record<string, number>} */
  const counts = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
