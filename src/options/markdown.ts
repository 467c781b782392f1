import { type AnyOption, defaultText, type OptionTable } from './define.ts'

const HEAD = `\
| option | meaning | allowed | default | flag of \`quiesce serve\` (its default) | upstream |
|---|---|---|---|---|---|`

/**
 * The rows of a table for documentation, in Markdown, and below it those of the fields of objects.
 */
export function markdownOf(table: OptionTable, prefix = ''): string {
  const rows = Object.entries(table).map(([name, row]) => line(`${prefix}${name}`, row))
  const fields = Object.entries(table).flatMap(([name, row]) => (row.fields ? [fieldsOf(`${prefix}${name}`, row, row.fields)] : []))
  return [[HEAD, ...rows].join('\n'), ...fields].join('\n\n')
}

const fieldsOf = (name: string, { jointFlags = [] }: AnyOption, fields: OptionTable): string => {
  const joint = jointFlags.map(
    ({ flag, meaning, allowed, defaultWords }) => `\`--${flag}\`: ${meaning}. ${allowed}. Default: ${defaultWords}.`,
  )
  return [`Fields of \`${name}\`:`, ...joint, markdownOf(fields, `${name}.`)].join('\n\n')
}

function line(name: string, row: AnyOption): string {
  const { meaning, allowed, flag, cliDefault, upstream } = row
  const ofCommand = cliDefault === undefined ? '' : ` (${row.show(cliDefault as never)})`
  const cells = [`\`${name}\``, meaning, allowed, defaultText(row), flag === undefined ? '' : `\`--${flag}\`${ofCommand}`, upstream ?? '']
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
