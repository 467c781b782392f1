/**
 * How wide a text will be, without a font at hand. The widths are those of the metric-compatible
 * family that the pictures ask for (Helvetica, Arial, Liberation Sans), in thousandths of the font
 * size, and a little more.
 */
const MARGIN = 1.04
const BOLD = 1.06
const OTHER = 600
const CLASSES: readonly (readonly [string, number])[] = [
  ["ijl'|", 222],
  [' !,./:;\\ftI[]()·', 280],
  ['r-"*`{}', 340],
  ['ckvsxyzJ', 505],
  ['abdeghnopqu0123456789L_$?#', 556],
  ['+=<>~^', 584],
  ['TFZ', 611],
  ['ABEKPSVXY&', 667],
  ['CDHNRUw', 725],
  ['GOQ', 778],
  ['mM…%', 880],
  ['W@', 1000],
]
const WIDTHS = new Map(CLASSES.flatMap(([characters, width]) => [...characters].map((character) => [character, width])))

export function textWidth(text: string, fontSize: number, bold = false): number {
  const thousandths = [...text].reduce((sum, character) => sum + (WIDTHS.get(character) ?? OTHER), 0)
  return Math.ceil((thousandths / 1000) * fontSize * MARGIN * (bold ? BOLD : 1))
}
