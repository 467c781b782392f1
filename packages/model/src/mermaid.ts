/** What Mermaid needs of a text in a sequence diagram. */

/**
 * Mermaid's own distances make a diagram so wide that nothing can be read at the width of a page.
 */
export const NARROW_SEQUENCE: readonly string[] = ['---', 'config:', '  sequence:', '    width: 60', '    actorMargin: 8', '---']

/** The text without what ends a statement. */
export const said = (raw: string): string =>
  raw.replace(/[#;<>\n]/g, (character) => (character === '\n' ? ' ' : `#${character.charCodeAt(0)};`))

/**
 * The name of a participant in several lines: its box is as wide as its longest one, and there are
 * many beside each other.
 */
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
