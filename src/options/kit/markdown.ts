import { type AnyOption, defaultText, envName, type Needs, type OptionTable } from './define.ts'

const head = (command: string): string => `\
| option | meaning | allowed | default | flag of \`${command}\` (its default) | environment | upstream | needs |
|---|---|---|---|---|---|---|---|`

/**
 * The rows of a table for documentation, in Markdown, and below it those of the fields of objects.
 * @param command whose flags they are
 */
export function markdownOf(table: OptionTable, command = 'quiesce serve', prefix = ''): string {
  const rows = Object.entries(table).map(([name, row]) => line(`${prefix}${name}`, row, prefix))
  const fields = Object.entries(table).flatMap(([name, row]) =>
    row.fields ? [fieldsOf(`${prefix}${name}`, row, row.fields, command)] : [],
  )
  return [[head(command), ...rows].join('\n'), ...fields].join('\n\n')
}

const fieldsOf = (name: string, { jointFlags = [] }: AnyOption, fields: OptionTable, command: string): string => {
  const joint = jointFlags.map(
    ({ flag, meaning, allowed, defaultWords }) => `\`--${flag}\`, \`${envName(flag)}\`: ${meaning}. ${allowed}. Default: ${defaultWords}.`,
  )
  return [`Fields of \`${name}\`:`, ...joint, markdownOf(fields, command, `${name}.`)].join('\n\n')
}

const needsText = ({ anyOf, otherwise, because }: Needs, prefix: string): string =>
  `${anyOf.map((name) => `\`${prefix}${name}\``).join(' or ')}; else ${otherwise}: ${because}`

function line(name: string, row: AnyOption, prefix: string): string {
  const { meaning, allowed, flag, env, cliDefault, upstream = '', needs } = row
  const ofCommand = cliDefault === undefined ? '' : ` (${row.show(cliDefault as never)})`
  const [flagCell, envCell] = flag === undefined ? ['', ''] : [`\`--${flag}\`${ofCommand}`, `\`${env ?? envName(flag)}\``]
  const cells = [`\`${name}\``, meaning, allowed, defaultText(row), flagCell, envCell, upstream, needs ? needsText(needs, prefix) : '']
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
