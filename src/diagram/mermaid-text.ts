/** What all texts for Mermaid have in common. */

/** Mermaid's own distances make our pictures so wide that nothing can be read at the width of a README. */
const configured = (kind: string, settings: readonly string[]): readonly string[] => [
  '---',
  'config:',
  `  ${kind}:`,
  ...settings.map((setting) => `    ${setting}`),
  '---',
]
export const NARROW_FLOWCHART = configured('flowchart', ['nodeSpacing: 24', 'rankSpacing: 26', 'padding: 6', 'diagramPadding: 4'])
export const NARROW_SEQUENCE = configured('sequence', ['width: 60', 'actorMargin: 8'])

/** Without what ends a label or a statement. */
export const label = (raw: string): string => encoded(raw, /["#;:<>{}\n]/g)

/** The same in a sequence diagram, which reads less into what is said. */
export const said = (raw: string): string => encoded(raw, /[#;<>\n]/g)

const encoded = (raw: string, special: RegExp): string =>
  raw.replace(special, (character) => (character === '\n' ? ' ' : `#${character.charCodeAt(0)};`))

/** The name of a participant in several lines, as many as its box has room for: there are many beside each other. */
export const folded = (name: string): string => name.replace(name.includes('/') ? /\/(?=\w)/g : /-(?=\w)/g, '$&<br/>')

const NOTE_WIDTH = 44

/** A line of a note in several: Mermaid breaks none by itself. */
export function wrapped(words: string): string {
  const lines: string[] = []
  for (const word of words.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < NOTE_WIDTH) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map(said).join('<br/>')
}
