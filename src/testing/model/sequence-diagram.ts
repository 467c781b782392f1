import type { Trace } from './trace.ts'
import { effectText } from './trace.ts'

/** A trace as a Mermaid sequence diagram: who told whom what, and in notes what changed. */
export function sequenceDiagram({ steps, finding, loopsFrom }: Trace): string {
  const actors = new Participants(
    steps.flatMap(({ at, messages }) => [at, ...messages.flatMap(({ from, to }) => (from === undefined ? [to] : [from, to]))]),
  )
  const lines = ['sequenceDiagram', '  participant env as environment', ...actors.declarations()]
  steps.forEach(({ label, at, messages, effects, changes }, i) => {
    if (i === loopsFrom) lines.push('  loop for ever')
    if (messages.length === 0) lines.push(`  env->>${actors.of(at)}: ${text(label)}`)
    for (const { from, to, event } of messages)
      lines.push(`  ${from === undefined ? 'env' : actors.of(from)}->>${actors.of(to)}: ${text(event)}`)
    const notes = [...changes, ...effects.map(({ effect }) => `! ${effectText(effect)}`)]
    if (notes.length > 0) lines.push(`  Note over ${actors.of(at)}: ${notes.map(text).join('<br/>')}`)
  })
  if (loopsFrom !== undefined) lines.push('  end')
  return `${[...lines, `  Note over env: ${text(finding)}`].join('\n')}\n`
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
    return [...this.#names].map(([path, name]) => `  participant ${name} as ${text(path || 'root')}`)
  }
}

/** Without what ends a statement or a label. */
const text = (raw: string): string =>
  raw.replace(/[;#:\n]/g, (character) => (character === ':' ? ':' : character === '\n' ? ' ' : `#${character.charCodeAt(0)};`))
