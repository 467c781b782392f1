// @ts-check

/**
 * What many noisy measurements of one thing say together.
 * @typedef {object} Summary
 * @property {number} median
 * @property {readonly [number, number]} quartiles half of the measurements lie in between
 * @property {number} count of measurements
 * @property {readonly [number, number]} interval the median of as many measurements as one likes lies in here, with a confidence of at least 95 %
 */

/** @param {readonly number[]} values @returns {Summary} */
export function summarize(values) {
  const sorted = [...values].sort((a, b) => a - b)
  return {
    count: sorted.length,
    median: quantile(sorted, 0.5),
    quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)],
    interval: medianInterval(sorted),
  }
}

/** @param {readonly number[]} values */
export const median = (values) =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  )

/** @param {readonly number[]} sorted @param {number} share */
function quantile(sorted, share) {
  const at = (sorted.length - 1) * share
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

/**
 * By counting alone, without assuming how the noise is distributed: how many of n measurements are below the true median is
 * a toss of n coins.
 * @param {readonly number[]} sorted @returns {readonly [number, number]}
 */
function medianInterval(sorted) {
  const n = sorted.length
  let tail = 0
  let rank = 0
  for (let probability = 0.5 ** n; tail + probability <= 0.025; rank++) {
    tail += probability
    probability *= (n - rank) / (rank + 1)
  }
  // With too few measurements the outermost ones are as sure as it gets.
  const outermost = Math.max(0, rank - 1)
  return [sorted[outermost] ?? Number.NaN, sorted[n - 1 - outermost] ?? Number.NaN]
}
