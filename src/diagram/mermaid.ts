import type { Mode, Wiring } from '../machines/wiring.ts'
import { type Chart, type ChartState, decoded, statesOf } from './drawing/chart.ts'
import { type Lane, lifecycleScene } from './drawing/lifecycle-picture.ts'
import { type Box, sceneOf, type Text } from './drawing/scene.ts'
import { folded, label, NARROW_FLOWCHART, NARROW_SEQUENCE } from './mermaid-text.ts'
import type { Moment } from './sequence.ts'
import { conditions, flowOf } from './wiring-picture.ts'

/**
 * The same pictures as text that GitHub and others draw. Names are labels here: Mermaid's own take
 * no punctuation.
 */

export function wiringMermaid(wiring: Wiring, mode: Mode): string {
  const { nodes, edges } = flowOf(wiring)
  const names = numbered(
    'n',
    nodes.map(({ id }) => id),
  )
  const lane = (id: 'start' | 'stop', title: string) => [
    `  subgraph ${id}lane["${title}"]`,
    // Else it would go from left to right.
    '    direction TB',
    ...nodes
      .filter((node) => node.lane === id)
      .map((shown) => {
        const { id: node, name, row } = shown
        const lines = [name, ...conditions(shown, mode)].map(label)
        if (row) lines.push(`<b>${label(row.fires)}</b>`)
        const [open, close] = row ? (row.work ? ['["', '"]'] : ['(["', '"])']) : ['(("', '"))']
        return `    ${names.get(node)}${open}${lines.join('<br/>')}${close}`
      }),
    '  end',
  ]
  return text([
    ...NARROW_FLOWCHART,
    'flowchart TD',
    ...lane('start', 'Start'),
    ...lane('stop', 'Stop'),
    // No line, but one lane below the other.
    '  startlane ~~~ stoplane',
    ...edges.map(({ from, to }) => `  ${names.get(from)} --> ${names.get(to)}`),
  ])
}

/**
 * The whole life as flowcharts, because state diagrams have no lines between regions; one for each
 * lane, because lines never leave one. A region is a box of its states, and a signal leads from box
 * to box: Mermaid gives up the layout of a box whose states are linked to others.
 */
export function lifecycleMermaid(chart: Chart): Readonly<Record<Lane, string>> {
  const { running, lanes, scene } = lifecycleScene(chart)
  const laneText = (lane: Lane): string => {
    const regions = running.states.filter(({ id }) => lanes.get(id) === lane)
    const regionOf = new Map(regions.flatMap((region) => statesOf(region).map(({ id }) => [id, region.id] as const)))
    const names = numbered('s', [...regionOf.keys()])
    const box = (state: ChartState, indent: string): string[] => {
      const name = names.get(state.id)
      const words = wordsIn(scene.boxes.get(state.id) as Box)
      if (state.states.length === 0) return [`${indent}${name}${state.kind === 'final' ? `([${words}])` : `[${words}]`}`]
      return [
        `${indent}subgraph ${name}[${words}]`,
        `${indent}  direction TB`,
        ...state.states.flatMap((inner) => box(inner, `${indent}  `)),
        ...scene.links
          .filter(({ kind, from }) => kind === 'transition' && scene.parents.get(from) === state)
          .map(({ from, to, texts }) => `${indent}  ${names.get(from)} -->${onLine(texts)} ${names.get(to)}`),
        `${indent}end`,
      ]
    }
    const signals = scene.links
      .filter(({ kind, from }) => kind === 'signal' && regionOf.has(from))
      .flatMap(({ from, to, edges }) => {
        const [region, other] = [from, to].map((id) => names.get(regionOf.get(id) as string))
        return edges.map(({ event }) => `  ${region} -.->|"${label(decoded(event))}"| ${other}`)
      })
    return text([...NARROW_FLOWCHART, 'flowchart TD', ...regions.flatMap((region) => box(region, '  ')), ...new Set(signals)])
  }
  return { start: laneText('start'), stop: laneText('stop'), bounds: laneText('bounds') }
}

const wordsIn = ({ texts }: Box): string =>
  `"${texts.map(({ role, text: words }) => (role === 'raised' ? `<b>${label(words)}</b>` : label(words))).join('<br/>')}"`

const onLine = (texts: readonly Text[]): string =>
  texts.length === 0 ? '' : `|"${texts.map(({ text: words }) => label(words)).join('<br/>')}"|`

export function machineMermaid(chart: Chart): string {
  const { links } = sceneOf(chart, () => false)
  const names = numbered(
    's',
    statesOf(chart.root).map(({ id }) => id),
  )
  const body = ({ id, kind, states }: ChartState, indent: string): string[] => {
    const parts = states.map((state) => declared(state, indent))
    const inside = new Set(states.map((state) => state.id))
    const initial = states.find(({ isInitial }) => isInitial)
    return [
      ...parts.flatMap((part, i) => (kind === 'parallel' && i > 0 ? [`${indent}--`, ...part] : part)),
      ...(initial ? [`${indent}[*] --> ${names.get(initial.id)}`] : []),
      ...links
        .filter(({ from, to }) => inside.has(from) && (inside.has(to) || to === id))
        .map(({ from, to, texts }) => {
          const words = texts.map((word) => word.text).join(' · ')
          return `${indent}${names.get(from)} --> ${names.get(to)}${words && ` : ${label(words)}`}`
        }),
      ...states.filter((state) => state.kind === 'final').map((state) => `${indent}${names.get(state.id)} --> [*]`),
    ]
  }
  const declared = (state: ChartState, indent: string): string[] => {
    const name = names.get(state.id)
    const words = [
      decoded(state.key),
      ...state.work.map((work) => `does ${work}`),
      ...state.raises.map((raised) => `raises ${decoded(raised)}`),
    ]
    if (state.states.length === 0) return [`${indent}${name} : ${words.map(label).join('<br/>')}`]
    return [`${indent}state "${label(decoded(state.key))}" as ${name} {`, ...body(state, `${indent}  `), `${indent}}`]
  }
  return text(['stateDiagram-v2', ...body(chart.root, '  ')])
}

export function sequenceMermaid(moments: readonly Moment[]): string {
  const phases = numbered('p', [...new Set(moments.flatMap((moment) => (moment.type === 'begun' ? [moment.phase] : [])))])
  return text([
    ...NARROW_SEQUENCE,
    'sequenceDiagram',
    '  participant outside',
    '  participant lifecycle',
    ...[...phases].map(([phase, name]) => `  participant ${name} as ${folded(label(phase))}`),
    ...moments.map((moment) => message(moment, phases)),
  ])
}

function message(moment: Moment, phases: ReadonlyMap<string, string>): string {
  switch (moment.type) {
    case 'notified':
      return `  outside->>lifecycle: ${label(moment.text)}`
    case 'begun':
      return `  lifecycle->>+${phases.get(moment.phase)}: ${moment.time}`
    case 'ended':
      return `  ${phases.get(moment.phase)}-->>-lifecycle: ${moment.outcome}${moment.signal ? `, ${label(moment.signal)}` : ''}`
    case 'signal':
      return `  Note over lifecycle: ${label(moment.signal)}`
    case 'pause':
      return `  Note over outside,lifecycle: ${moment.text}`
  }
}

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`

const numbered = (prefix: string, keys: readonly string[]): Map<string, string> => new Map(keys.map((key, i) => [key, `${prefix}${i}`]))
