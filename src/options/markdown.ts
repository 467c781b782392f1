import { type AnyOption, defaultText, type OptionTable } from './define.ts'

const HEAD = `\
| option | meaning | allowed | default | flag of \`quiesce serve\` (its default) | upstream |
|---|---|---|---|---|---|`

/** The rows of a table for documentation, in Markdown. */
export const markdownOf = (table: OptionTable): string => [HEAD, ...Object.entries(table).map(([name, row]) => line(name, row))].join('\n')

function line(name: string, row: AnyOption): string {
  const { meaning, allowed, flag, cliDefault, upstream } = row
  const ofCommand = cliDefault === undefined ? '' : ` (${row.show(cliDefault as never)})`
  const cells = [`\`${name}\``, meaning, allowed, defaultText(row), flag === undefined ? '' : `\`--${flag}\`${ofCommand}`, upstream ?? '']
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
