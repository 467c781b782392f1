import type { Mode, Wiring } from '../machines/wiring.ts'
import { type Chart, type ChartState, statesOf } from './chart.ts'
import { decoded, sceneOf } from './scene.ts'
import type { Moment } from './sequence.ts'
import { conditions, flowOf } from './wiring-picture.ts'

/** The same pictures as text that GitHub and others draw. Names are labels here: Mermaid's own take no punctuation. */

export function wiringMermaid(wiring: Wiring, mode: Mode): string {
  const { nodes, edges } = flowOf(wiring)
  const names = numbered(
    'n',
    nodes.map(({ id }) => id),
  )
  const lane = (id: 'start' | 'stop', title: string) => [
    `  subgraph ${id}lane["${title}"]`,
    ...nodes
      .filter((node) => node.lane === id)
      .map(({ id: node, name, row }) => {
        const lines = row ? [name, ...conditions(row, mode), `<b>${row.fires}</b>`] : [name]
        const [open, close] = row ? (row.work ? ['["', '"]'] : ['(["', '"])']) : ['(("', '"))']
        return `    ${names.get(node)}${open}${lines.map((line, i) => (i === lines.length - 1 && row ? line : label(line))).join('<br/>')}${close}`
      }),
    '  end',
  ]
  return text([
    'flowchart TD',
    ...lane('start', 'Start'),
    ...lane('stop', 'Stop'),
    ...edges.map(({ from, to }) => `  ${names.get(from)} --> ${names.get(to)}`),
  ])
}

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
    'sequenceDiagram',
    '  participant outside',
    '  participant lifecycle',
    ...[...phases].map(([phase, name]) => `  participant ${name} as ${label(phase)}`),
    ...moments.map((moment) => message(moment, phases)),
  ])
}

function message(moment: Moment, phases: ReadonlyMap<string, string>): string {
  switch (moment.type) {
    case 'told':
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

/** Without what ends a label or a statement. */
const label = (raw: string): string =>
  raw.replace(/["#;:<>{}\n]/g, (character) => (character === '\n' ? ' ' : `#${character.charCodeAt(0)};`))
