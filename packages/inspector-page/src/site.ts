import { LifeChart } from './chart/life-chart.ts'
import { element, setText } from './dom.ts'
import type { Chart } from './quiesce.ts'

/**
 * The chart of the documentation's first page: the inspector's own, without a life. Its data is in
 * the page, so that a file on a disk is enough.
 */
const notified = element('chart-notified')
const atRest = notified.textContent
const chart = new LifeChart(element('chart-body'), element('chart-space'), {
  notified: (words) => setText(notified, words === '' ? atRest : words),
})

const show = (mode: string): void => chart.put(JSON.parse(element(`chart-${mode}`).textContent) as Chart)

const modes = [...document.querySelectorAll<HTMLInputElement>('input[name="mode"]')]
for (const mode of modes) mode.addEventListener('change', () => show(mode.value))
show(modes.find(({ checked }) => checked)?.value ?? 'refuse')

element('chart-smaller').addEventListener('click', () => chart.smaller())
element('chart-larger').addEventListener('click', () => chart.larger())
element('chart-fit').addEventListener('click', () => chart.viewport.fit())
