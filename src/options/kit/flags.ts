import { type AnyOption, defaultText, envName, type JointFlag, type KindName, type OptionTable, type Switch } from './define.ts'
import { upstreamWords } from './upstream-words.ts'

/** A flag, as it follows from a row. */
export interface Flag {
  /** The name without the dashes. */
  readonly name: string
  readonly env: string
  readonly kind: KindName
  readonly allowed: string
  readonly default: string
  readonly meaning: string
  /** The option that it sets, or a part of it. */
  readonly option: string
  /** The field that it sets, of an object. */
  readonly field?: string
  /** What stands between its texts when it is given several times; without it the last counts. */
  readonly joint?: string
  readonly switch?: Switch<unknown>
  /** What stands for its value in help. */
  readonly placeholder: string
  readonly choices?: readonly string[]
  /** The value, or undefined when the text cannot be read. */
  readonly fromText: (text: unknown) => unknown
  /** More about a text that cannot be read, with a space in front; empty for nothing. */
  readonly remark?: (text: unknown) => string
  /** Whether it sets fields of the option: those that `fromText` returns. */
  readonly isPart: boolean
  /** Whether a part brings the option with it. */
  readonly turnsOn: boolean
  /** Its value is not printed. */
  readonly isSecret: boolean
}

/** The flags of a table: those of its rows, then those of their fields. */
export function flagsOf(table: OptionTable): readonly Flag[] {
  const rows = Object.entries(table)
  return [
    ...rows.flatMap(([name, row]) => flagOf(name, row)),
    ...rows.flatMap(([name, { fields = {}, jointFlags = [] }]) => [
      ...jointFlags.map((joint) => jointFlagOf(name, joint)),
      ...Object.entries(fields).flatMap(([field, row]) => flagOf(name, row).map((flag) => partOf(flag, field, row))),
    ]),
  ]
}

function flagOf(option: string, row: AnyOption): Flag[] {
  const { flag: name, kind, fromText = (text) => text, switch: onOff } = row
  if (name === undefined) return []
  return [
    {
      name,
      env: row.env ?? envName(name),
      kind: onOff ? 'switch' : kind,
      allowed: onOff?.bare ? 'no value' : onOff ? 'true, false' : (row.allowedAsText ?? row.allowed),
      default: flagDefault(row),
      meaning: onOff?.meaning ?? row.meaning,
      option,
      ...(onOff && { switch: onOff }),
      placeholder: row.placeholder ?? 'VALUE',
      ...(row.choices && { choices: row.choices }),
      ...(row.joint !== undefined && { joint: row.joint }),
      fromText,
      remark: (text) => `${upstreamWords(row, text)}${row.remark?.(text) ?? ''}`,
      isPart: false,
      turnsOn: row.turnsOn ?? true,
      isSecret: row.secret ?? false,
    },
  ]
}

const jointFlagOf = (option: string, { flag: name, defaultWords, ...joint }: JointFlag): Flag => ({
  ...joint,
  name,
  env: envName(name),
  kind: 'value',
  placeholder: 'HOST:PORT',
  default: defaultWords,
  option,
  isPart: true,
  turnsOn: true,
  isSecret: false,
})

/**
 * What a field refuses cannot be read: the option itself would be refused in words that its flag
 * does not have.
 */
const partOf = (flag: Flag, field: string, { accepts }: AnyOption): Flag => ({
  ...flag,
  isPart: true,
  field,
  // Off is what it is without the flag.
  ...(flag.switch && { switch: { ...flag.switch, on: { [field]: flag.switch.on }, off: undefined } }),
  fromText: (text) => {
    const value = flag.fromText(text)
    return accepts(value) ? { [field]: value } : undefined
  },
})

function flagDefault(row: AnyOption): string {
  const { cliDefault, switch: onOff } = row
  if (cliDefault !== undefined) return row.show(cliDefault as never)
  // A default that is neither is said in words.
  const isOnOrOff = onOff && (row.default === onOff.on || row.default === onOff.off) && row.default !== undefined
  return isOnOrOff ? String(row.default === onOff.on) : defaultText(row)
}
