/** What all texts for Mermaid have in common. */

/**
 * Mermaid's own distances make our pictures so wide that nothing can be read at the width of a
 * README.
 */
const configured = (kind: string, settings: readonly string[]): readonly string[] => [
  '---',
  'config:',
  `  ${kind}:`,
  ...settings.map((setting) => `    ${setting}`),
  '---',
]
export const NARROW_FLOWCHART = configured('flowchart', ['nodeSpacing: 24', 'rankSpacing: 26', 'padding: 6', 'diagramPadding: 4'])
export const NARROW_SEQUENCE = configured('sequence', ['width: 60', 'actorMargin: 8'])

/** The text without what ends a label or a statement, and what Mermaid reads as Markdown. */
export const label = (raw: string): string =>
  raw.replace(/["#;:<>{}`*_\\$&\n]/g, (character) => (character === '\n' ? ' ' : `#${character.charCodeAt(0)};`))

/**
 * The name of a participant in several lines, as many as its box has room for: there are many
 * beside each other.
 */
export const folded = (name: string): string => name.replace(name.includes('/') ? /\/(?=\w)/g : /-(?=\w)/g, '$&<br/>')
