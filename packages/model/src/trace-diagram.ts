import { AFTER, endIn } from './engine/internals.ts'
import type { Trace } from './engine/trace.ts'
import { effectText } from './engine/trace.ts'
import { A_TRACE, checkGiven } from './errors.ts'
import { folded, NARROW_SEQUENCE, said, wrapped } from './mermaid.ts'

/** A trace as a Mermaid sequence diagram: who told whom what, and in notes what changed. */
export function sequenceDiagram(trace: Trace): string {
  checkGiven('sequenceDiagram(trace)', 'trace', trace, A_TRACE, 'steps')
  const { steps, finding, loopsFrom } = trace
  const actors = new Participants(
    steps.flatMap(({ at, messages }) => [at, ...messages.flatMap(({ from, to }) => (from === undefined ? [to] : [from, to]))]),
  )
  const lines = [...NARROW_SEQUENCE, 'sequenceDiagram', '  participant env as environment', ...actors.declarations()]
  steps.forEach(({ label, at, messages, effects, changes }, i) => {
    if (i === loopsFrom) lines.push('  loop for ever')
    if (messages.length === 0) lines.push(`  env->>${actors.of(at)}: ${said(label)}`)
    for (const { from, to, event } of messages)
      lines.push(`  ${from === undefined ? 'env' : actors.of(from)}->>${actors.of(to)}: ${said(wordsFor(event, label))}`)
    const notes = [...changes, ...effects.map(({ effect }) => `! ${effectText(effect)}`)]
    if (notes.length > 0) lines.push(`  Note over ${actors.of(at)}: ${notes.map(wrapped).join('<br/>')}`)
  })
  if (loopsFrom !== undefined) lines.push('  end')
  return `${[...lines, `  Note right of env: ${wrapped(finding)}`].join('\n')}\n`
}

/** Mermaid's names take no punctuation, so actors are numbered and their paths are labels. */
class Participants {
  readonly #names: ReadonlyMap<string, string>

  constructor(paths: readonly string[]) {
    this.#names = new Map([...new Set(paths)].map((path, i) => [path, `a${i}`]))
  }

  of(path: string): string {
    return this.#names.get(path) ?? 'env'
  }

  declarations(): string[] {
    return [...this.#names].map(([path, name]) => `  participant ${name} as ${folded(said(path || 'root'))}`)
  }
}

/** xstate's own events are named after states and actors, which the diagram shows already. */
function wordsFor(event: string, label: string): string {
  if (event.startsWith(AFTER)) return label
  return endIn(event) ?? event
}
