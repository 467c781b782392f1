// @ts-check
// Pictures of results as SVG, drawn by ECharts without a browser.

/**
 * @typedef {object} Picture
 * @property {number} width
 * @property {number} height
 * @property {import('echarts').EChartsOption} option
 */

/** The colours of all pictures: ours, ours of another kind, others, the control, and a line that is a target. */
export const COLOURS = { ours: '#1f6feb', second: '#9dc3f0', others: '#8c959f', control: '#d0d7de', target: '#c2410c' }

/** The same text for the same picture. @param {Picture} picture */
export async function svgOf({ width, height, option }) {
  const { init } = await import('echarts')
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({ animation: false, backgroundColor: '#ffffff', ...option })
  const svg = chart.renderToSVGString()
  chart.dispose()
  // Each chart of a process has a number of its own, which stands in its ids and classes.
  return `${svg.replaceAll(/\bzr\d+-/g, 'zr-')}\n`
}

/**
 * Horizontal bars, one for each name, the first at the top.
 * @param {{ title: string, unit: string, bars: readonly { name: string, value: number, colour?: string }[], target?: number, width?: number }} given
 * @returns {Picture}
 */
export function barsOf({ title, unit, bars, target, width = 860 }) {
  const shown = [...bars].reverse()
  return {
    width,
    height: 90 + bars.length * 26,
    option: {
      title: { text: title, left: 8, top: 8, textStyle: { fontSize: 14 } },
      grid: { left: 230, right: 60, top: 44, bottom: 40 },
      xAxis: { type: 'value', name: unit, nameLocation: 'middle', nameGap: 26, min: 0 },
      yAxis: { type: 'category', data: shown.map(({ name }) => name), axisTick: { show: false } },
      series: [
        {
          type: 'bar',
          data: shown.map(({ value, colour = COLOURS.others }) => ({ value: Number(value.toPrecision(3)), itemStyle: { color: colour } })),
          label: { show: true, position: 'right' },
          ...(target !== undefined && { markLine: targetLine(target) }),
        },
      ],
    },
  }
}

/** A dashed line at a value. @param {number} target @param {string} [label] */
export const targetLine = (target, label = 'target') => ({
  symbol: 'none',
  silent: true,
  lineStyle: { color: COLOURS.target, type: /** @type {const} */ ('dashed') },
  label: { formatter: label },
  data: [{ xAxis: target }],
})
