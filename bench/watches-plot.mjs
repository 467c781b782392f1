// @ts-check
// A bar for each 100 ms, beside the rate that the limiter gives: one SVG, without a script.

const WIDTH = 860
const HEIGHT = 260
const LEFT = 48
const BOTTOM = 34
const TOP = 44
const INK = '#1f2328'
const GREY = '#59636e'
const BAR = '#4393e6'
const LINE = '#c2410c'

/**
 * @param {{ bins: readonly number[], rate: number, title: string }} given `rate`: what the limiter gives in one bin
 */
export function plotOf({ bins, rate, title }) {
  const most = Math.max(rate, ...bins) * 1.1
  const step = (WIDTH - LEFT - 12) / bins.length
  const y = (/** @type {number} */ count) => round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / most))
  const bottom = y(0)
  const bars = bins.map((count, index) => {
    const x = round(LEFT + index * step)
    return `<rect x="${x}" y="${y(count)}" width="${round(step * 0.8)}" height="${round(bottom - y(count))}" fill="${BAR}"/>`
  })
  const seconds = Array.from({ length: Math.floor(bins.length / 10) + 1 }, (_, second) => {
    const x = round(LEFT + second * 10 * step)
    return text(x, bottom + 18, `${second} s`)
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="12" role="img">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="20" fill="${INK}" font-weight="600">${title}</text>`,
    ...bars,
    `<line x1="${LEFT}" x2="${WIDTH - 12}" y1="${y(rate)}" y2="${y(rate)}" stroke="${LINE}" stroke-dasharray="4 3"/>`,
    `<text x="${LEFT - 6}" y="${y(rate) + 4}" fill="${LINE}" text-anchor="end">${rate}</text>`,
    `<text x="${LEFT - 6}" y="${bottom}" fill="${GREY}" text-anchor="end">0</text>`,
    ...seconds,
    '</svg>\n',
  ].join('\n')
}

const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ words) =>
  `<text x="${x}" y="${y}" fill="${GREY}">${words}</text>`
const round = (/** @type {number} */ number) => Math.round(number * 10) / 10
