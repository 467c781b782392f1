import type { ELK, ElkExtendedEdge, ElkNode } from 'elkjs'
import { QuiesceError } from '../base/errors.ts'
import type { Layout, LayoutGraph, LayoutLine, LayoutNode, Placed, Point, Rect } from './drawing/graph.ts'

/**
 * Layout by elkjs, for graphs without ports. It is an optional peer of 1.6 MB that only those
 * who draw need.
 */

const ROOT = ''

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.randomSeed': '1',
  'elk.padding': '[top=0,left=0,bottom=0,right=0]',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.spacing.nodeNode': '14',
  'elk.spacing.componentComponent': '14',
  'elk.spacing.edgeNode': '10',
  'elk.spacing.edgeEdge': '8',
  'elk.spacing.edgeLabel': '3',
  'elk.layered.spacing.nodeNodeBetweenLayers': '18',
  'elk.layered.spacing.edgeNodeBetweenLayers': '9',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '8',
}

/** @throws QuiesceError ERR_DEPENDENCY_MISSING when elkjs is not installed */
export async function elkLayout(load: () => Promise<{ readonly default: unknown }> = () => import('elkjs')): Promise<Layout> {
  // A CommonJS module: what it exports is the class, whatever its types say of a default.
  const Elk = await load().then(
    (module) => module.default as new () => ELK,
    (cause: unknown) => {
      throw new QuiesceError(
        'ERR_DEPENDENCY_MISSING',
        'this layout needs the package "elkjs": npm install elkjs',
        { package: 'elkjs' },
        cause,
      )
    },
  )
  const elk = new Elk()
  return async (graph) => placedBy(await elk.layout(elkGraph(graph)))
}

function elkGraph({ nodes, lines }: LayoutGraph): ElkNode {
  return { id: ROOT, layoutOptions: OPTIONS, children: nodes.map(elkNode), edges: lines.map(elkEdge) }
}

const elkNode = ({ id, size, isFirst = false }: LayoutNode): ElkNode => ({
  id,
  ...size,
  ...(isFirst && { layoutOptions: { 'elk.layered.layering.layerConstraint': 'FIRST' } }),
})

const elkEdge = ({ id, from, to, label }: LayoutLine): ElkExtendedEdge => ({
  id,
  sources: [from],
  targets: [to],
  ...(label && { labels: [{ id: `label ${id}`, text: ' ', ...label }] }),
})

function placedBy(root: ElkNode): Placed {
  const nodes = new Map<string, Rect>()
  const lines = new Map<string, { points: Point[]; label?: Rect }>()
  const visit = (node: ElkNode): void => {
    if (node.id !== ROOT) nodes.set(node.id, rectOf(node))
    for (const { id, sections = [], labels: [label] = [] } of node.edges ?? []) {
      const points = sections.flatMap(({ startPoint, bendPoints = [], endPoint }) => [startPoint, ...bendPoints, endPoint])
      lines.set(id, { points: points.map(({ x, y }) => ({ x, y })), ...(label && { label: rectOf(label) }) })
    }
    for (const child of node.children ?? []) visit(child)
  }
  visit(root)
  const { width, height } = rectOf(root)
  return { size: { width, height }, nodes, lines }
}

const rectOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Rect>): Rect => ({ x, y, width, height })
