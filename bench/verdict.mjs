// @ts-check
// How a measurement is compared with its target, and how both are written. A verdict is made of an
// interval and never of a median, so that a loaded machine makes it open and not another one.
import { isSlow } from './pace.mjs'

/**
 * What is measured: any median with an interval in which the true one lies.
 * @typedef {object} Measured
 * @property {number} median
 * @property {readonly [number, number]} interval
 * @property {number} [count] of the measurements behind it, where it was made by counting them
 * @typedef {{ readonly atMost: number } | { readonly atLeast: number }} Target
 * @typedef {'met' | 'missed' | 'open'} Verdict
 * @typedef {import('./pace.mjs').Pace} Pace
 */

/** With fewer measurements not even their whole range is an interval of 95 %: 2 / 2^5 is more than 5 %. */
const MEASUREMENTS_MIN = 6

/**
 * A target is met when the whole interval is on its right side, missed when the whole interval is
 * on the wrong one, and open otherwise: also when there are too few measurements for an interval,
 * and when it would be missed by a machine that is slow.
 * @param {Measured} measured @param {Target} target
 * @param {Pace} [pace] for what is a time, or depends on how fast memory is
 * @returns {Verdict}
 */
export function verdictOf({ interval: [low, high], count = MEASUREMENTS_MIN }, target, pace) {
  if (count < MEASUREMENTS_MIN) return 'open'
  const [isMet, isMissed] =
    'atMost' in target ? [high <= target.atMost, low > target.atMost] : [low >= target.atLeast, high < target.atLeast]
  return isMet ? 'met' : isMissed && !isSlow(pace) ? 'missed' : 'open'
}

/** What is known without measuring twice, as a measurement: 0 lost, 19 packages. @param {number} value @returns {Measured} */
export const fact = (value) => ({ median: value, interval: [value, value] })

/** "0.97 (0.96 to 0.98)", or "19" for a fact. @param {Measured} measured @param {number} [digits] */
export function measuredText({ median, interval }, digits = 2) {
  const [low, high] = interval.map((bound) => bound.toFixed(digits))
  return interval[0] === interval[1] ? median.toFixed(digits) : `${median.toFixed(digits)} (${low} to ${high})`
}

/** @param {Target} target @param {string} [unit] */
export const targetText = (target, unit = '') =>
  'atMost' in target ? `at most ${target.atMost}${unit}` : `at least ${target.atLeast}${unit}`

/**
 * A line of the table that `npm run bench` prints and the page begins with.
 * @typedef {object} Row
 * @property {string} what
 * @property {string} measured
 * @property {string} target empty for what has none, such as a control
 * @property {Verdict | ''} verdict
 */

/**
 * @param {string} what
 * @param {Measured} measured
 * @param {{ readonly target?: Target, readonly unit?: string, readonly digits?: number, readonly pace?: Pace | undefined }} [how]
 * @returns {Row}
 */
export function rowOf(what, measured, { target, unit = '', digits = 2, pace } = {}) {
  const text = `${measuredText(measured, digits)}${unit}`
  return { what, measured: text, target: target ? targetText(target, unit) : '', verdict: target ? verdictOf(measured, target, pace) : '' }
}

/**
 * The same, of what may not have been measured.
 * @param {string} what @param {Measured | undefined} measured @param {Parameters<typeof rowOf>[2]} [how] @returns {Row[]}
 */
export const rowsOf = (what, measured, how) => (measured ? [rowOf(what, measured, how)] : [])

/** A table of Markdown. @param {readonly string[]} header @param {readonly (readonly string[])[]} rows */
export const tableOf = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
