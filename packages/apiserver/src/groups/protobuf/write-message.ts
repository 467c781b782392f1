/** What a field holds; a list is a field that stands several times. */
type Written = 'text' | 'bytes' | 'flag' | 'whole' | 'double' | (() => WrittenShape)

/** The fields of a message that are written, by their names; others are left out. */
export interface WrittenShape {
  readonly [name: string]: readonly [number: number, of: Written]
}

const VARINT = 0
const DOUBLE = 1
const BYTES = 2

/** The message of a value, by a table of its fields. */
export function writeMessage(value: Readonly<Record<string, unknown>>, shape: WrittenShape): Buffer {
  return Buffer.concat(
    Object.entries(shape).flatMap(([name, [number, of]]) =>
      [Object.hasOwn(value, name) ? (value[name] ?? []) : []].flat().map((each: unknown) => fieldOf(number, of, each)),
    ),
  )
}

function fieldOf(number: number, of: Written, value: unknown): Buffer {
  const key = (wire: number): Buffer => varint(number * 8 + wire)
  if (of === 'flag') return Buffer.concat([key(VARINT), varint(Number(value))])
  if (of === 'whole') return Buffer.concat([key(VARINT), varint(value as number)])
  if (of === 'double') {
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value as number)
    return Buffer.concat([key(DOUBLE), bytes])
  }
  const bytes =
    of === 'bytes'
      ? (value as Buffer)
      : of === 'text'
        ? Buffer.from(value as string)
        : writeMessage(value as Readonly<Record<string, unknown>>, of())
  return Buffer.concat([key(BYTES), varint(bytes.length), bytes])
}

/** A whole number from 0 on. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  while (rest > 0x7f) {
    bytes.push((rest % 0x80) + 0x80)
    rest = Math.trunc(rest / 0x80)
  }
  return Buffer.from([...bytes, rest])
}
