/**
 * A script is text in paragraphs: commands, a line of four dashes, and what they led to. What
 * stands below the dashes is written by the machine; lines that begin with `#` are for the reader,
 * and a paragraph of nothing else has no dashes.
 */
export interface Block {
  /** Everything above the dashes, as it stands. */
  readonly lines: readonly string[]
  /** Number of the first of these lines in the file, from 1. */
  readonly firstLine: number
}

const DASHES = '----'

export interface ParsedCommand {
  readonly words: readonly string[]
  readonly line: number
}

/** The paragraphs of a script, without what their commands led to. */
export function parseScript(text: string): Block[] {
  const blocks: Block[] = []
  let lines: string[] = []
  let firstLine = 1
  const close = (): void => {
    const dashes = lines.indexOf(DASHES)
    if (lines.length > 0) blocks.push({ lines: dashes < 0 ? lines : lines.slice(0, dashes), firstLine })
    lines = []
  }
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') close()
    else if (lines.push(line) === 1) firstLine = index + 1
  }
  close()
  return blocks
}

/** The commands of a block. A comment may also end a line. */
export const commandsOf = ({ lines, firstLine }: Block): ParsedCommand[] =>
  lines.flatMap((line, index) => {
    const words = line
      .replace(/(^|\s)#.*$/, '')
      .split(/\s+/)
      .filter((word) => word !== '')
    return words.length > 0 ? [{ words, line: firstLine + index }] : []
  })

/** The text of a script whose blocks led to `outputs`. */
export function formatScript(blocks: readonly Block[], outputs: readonly (readonly string[])[]): string {
  const texts = blocks.map((block, index) => {
    const hasCommands = commandsOf(block).length > 0
    return [...block.lines, ...(hasCommands ? [DASHES, ...(outputs[index] ?? [])] : [])].join('\n')
  })
  return `${texts.join('\n\n')}\n`
}
