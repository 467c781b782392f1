/** Where a line is broken at the next space. */
const COLUMNS_MAX = 80

/**
 * JSON as YAML, as upstream writes it: keys sorted, lists not indented, text in the plainest style
 * that reads back as the same text.
 * @see kubernetes-sigs/yaml yaml.go JSONToYAML
 */
export const toYaml = (value: unknown): string => `${node(value, 0, 0).trimStart()}\n`

/** @param column where it begins; a collection begins with a new line or a space of its own */
function node(value: unknown, indent: number, column: number): string {
  if (Array.isArray(value)) return value.length === 0 ? ' []' : list(value, indent)
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, each]) => each !== undefined)
    return entries.length === 0 ? ' {}' : mapping(entries, indent)
  }
  return ` ${typeof value === 'string' ? text(value, indent, column + 1) : JSON.stringify(value)}`
}

function mapping(entries: readonly (readonly [string, unknown])[], indent: number): string {
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1))
  const lines = sorted.map(([key, value]) => {
    const begin = `${' '.repeat(indent)}${text(key, indent, indent, Number.POSITIVE_INFINITY)}:`
    // Lists stand as far left as their key.
    return `${begin}${node(value, Array.isArray(value) ? indent : indent + 2, begin.length)}`
  })
  return `\n${lines.join('\n')}`
}

function list(values: readonly unknown[], indent: number): string {
  const lines = values.map((value) => `${' '.repeat(indent)}- ${node(value, indent + 2, indent + 1).trimStart()}`)
  return `\n${lines.join('\n')}`
}

/** @param indent of what continues it on further lines */
function text(value: string, indent: number, column: number, columnsMax = COLUMNS_MAX): string {
  if (hasOnlyPrintable(value)) {
    if (value.includes('\n')) {
      if (isBlock(value)) return literal(value, indent)
    } else if (!isOtherType(value)) {
      if (isPlain(value)) return folded(value, indent, column, columnsMax)
      if (value.trim() === value) return `'${folded(value.replaceAll("'", "''"), indent, column + 1, columnsMax)}'`
    }
  }
  return JSON.stringify(value)
}

/** Whether it is a number, a boolean or nothing to any reader of YAML 1.1. */
const isOtherType = (value: string): boolean =>
  /^(|~|null|true|false|yes|no|on|off|y|n|<<|=|[-+]?\.(inf|nan)|\.nan)$/i.test(value) ||
  /^[-+]?(0b[01_]+|0x[\da-f_]+|[\d_]+(\.[\d_]*)?(e[-+]?\d+)?|\.[\d_]+(e[-+]?\d+)?|\d+(:[0-5]?\d)+(\.\d*)?)$/i.test(value) ||
  /^\d{4}-\d\d?-\d\d?([Tt ].*)?$/.test(value)

/** Whether nothing in it means something else to YAML. */
const isPlain = (value: string): boolean => !/^[-?:](\s|$)|^[,[\]{}#&*!|>'"%@`]|^(---|\.\.\.)|: |:$| #|^\s|\s$/.test(value)

const hasOnlyPrintable = (value: string): boolean =>
  /^[\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]*$/u.test(value)

/** A literal block shows neither a space before a line's end nor one before the first line. */
const isBlock = (value: string): boolean => !/ (\n|$)|^ |^\n/.test(value)

function literal(value: string, indent: number): string {
  const chomping = value.endsWith('\n\n') ? '+' : value.endsWith('\n') ? '' : '-'
  const lines = value.replace(/\n$/, '').split('\n')
  return `|${chomping}\n${lines.map((line) => (line === '' ? '' : `${' '.repeat(indent)}${line}`)).join('\n')}`
}

/** Broken at the first space behind the width, but not beside another space. */
function folded(value: string, indent: number, column: number, columnsMax: number): string {
  let result = ''
  let at = column
  for (let index = 0; index < value.length; index++) {
    const isBreak =
      value[index] === ' ' &&
      at > columnsMax &&
      value[index - 1] !== ' ' &&
      value[index + 1] !== ' ' &&
      index > 0 &&
      index < value.length - 1
    result += isBreak ? `\n${' '.repeat(indent)}` : value[index]
    at = isBreak ? indent : at + 1
  }
  return result
}
