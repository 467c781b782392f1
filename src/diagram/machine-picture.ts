import { cardOf } from './drawing/card.ts'
import type { Chart } from './drawing/chart.ts'
import type { Layout, Placed } from './drawing/graph.ts'
import { type Box, type Scene, sceneOf, sizeOf } from './drawing/scene.ts'

/** One machine by itself. Without a layout it is drawn as a card. */
export async function machinePicture(chart: Chart, layout?: Layout): Promise<{ readonly scene: Scene; readonly placed: Placed }> {
  const scene = sceneOf(chart, () => false)
  const isFlat = chart.root.states.every(({ states }) => states.length === 0)
  if (!layout || !isFlat) return { scene, placed: cardOf(scene, chart.root).placed }
  const inside = new Set(chart.root.states.map(({ id }) => id))
  const content = await layout({
    nodes: chart.root.states.map(({ id, isInitial }) => ({ id, size: (scene.boxes.get(id) as Box).size, isFirst: isInitial })),
    lines: scene.links
      .filter(({ from, to }) => inside.has(from) && inside.has(to))
      .map(({ id, from, to, texts }) => ({ id, from, to, ...(texts.length > 0 && { label: sizeOf(texts) }) })),
  })
  return { scene, placed: cardOf(scene, chart.root, { content: new Map([[chart.root.id, content]]) }).placed }
}
