// @ts-check
// Pictures of results as SVG, drawn by ECharts without a browser.

/**
 * @typedef {object} Picture
 * @property {number} width
 * @property {number} height
 * @property {import('echarts').EChartsOption} option
 */

/** The colours of all pictures: ours, ours of another kind, others, the control, and a line that is a target. */
export const COLOURS = { ours: '#1f6feb', second: '#9dc3f0', others: '#8c959f', control: '#57606a', target: '#c2410c' }

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
 * Horizontal bars, one for each name, the first at the top, each with its interval as a line.
 * @param {{ title: string, unit: string, bars: readonly { name: string, value: number, interval?: readonly [number, number], colour?: string }[], target?: number, width?: number }} given
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
          label: { show: true, position: 'insideLeft', color: '#ffffff' },
          ...(target !== undefined && { markLine: targetLine(target) }),
        },
        intervalLines(shown.map(({ interval }) => interval)),
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

/**
 * A line with ends across each horizontal bar, from one bound of its interval to the other.
 * @param {readonly (readonly [number, number] | undefined)[]} intervals in the order of the bars
 * @returns {import('echarts').CustomSeriesOption}
 */
const intervalLines = (intervals) => ({
  type: 'custom',
  silent: true,
  z: 10,
  data: intervals.flatMap((interval, index) => (interval ? [[...interval, index]] : [])),
  // The axis reaches as far as the bounds do.
  encode: { x: [0, 1], y: 2 },
  renderItem: (_, api) => {
    const [low = 0, y = 0] = api.coord([api.value(0), api.value(2)])
    const [high = 0] = api.coord([api.value(1), api.value(2)])
    const line = (/** @type {[number, number]} */ [x1, y1], /** @type {[number, number]} */ [x2, y2]) => ({
      type: /** @type {const} */ ('line'),
      shape: { x1, y1, x2, y2 },
      style: { stroke: '#1f2328', lineWidth: 1.5 },
    })
    return { type: 'group', children: [line([low, y], [high, y]), line([low, y - 4], [low, y + 4]), line([high, y - 4], [high, y + 4])] }
  },
})
