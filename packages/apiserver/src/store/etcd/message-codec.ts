/**
 * What a field of a message holds; a message is named by a function, so that it may hold itself.
 * Whole numbers are those of JavaScript: revisions are far from 2^53.
 */
type FieldType = 'whole' | 'flag' | 'bytes' | 'text' | (() => MessageFields)

/** The fields of a message by their names: the number of each, and what it holds. */
export interface MessageFields {
  readonly [name: string]: readonly [number: number, type: FieldType, isList?: 'list']
}

/** A message, by the names of its fields; those with the value of nothing are left out. */
export type MessageValue = Readonly<Record<string, unknown>>

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5

/**
 * Writes a message of protocol buffers, by a table of its fields.
 * @see https://protobuf.dev/programming-guides/encoding
 */
export function encodeMessage(value: MessageValue, fields: MessageFields): Buffer {
  const parts: Uint8Array[] = []
  for (const [name, [number, type, list]] of Object.entries(fields)) {
    const given = value[name]
    if (given === undefined) continue
    for (const each of list ? (given as readonly unknown[]) : [given]) {
      if (type === 'whole' || type === 'flag') {
        parts.push(varint(number * 8 + VARINT), varint(Number(each)))
        continue
      }
      const bytes =
        type === 'bytes'
          ? (each as Uint8Array)
          : type === 'text'
            ? Buffer.from(each as string)
            : encodeMessage(each as MessageValue, type())
      parts.push(varint(number * 8 + BYTES), varint(bytes.length), bytes)
    }
  }
  return Buffer.concat(parts)
}

/** @throws Error for bytes that are no such message */
export function decodeMessage<T>(bytes: Buffer, fields: MessageFields): T {
  const byNumber = numbered(fields)
  const message: Record<string, unknown> = {}
  let at = 0
  const whole = (): number => {
    // Almost all are small: no BigInt is made for these.
    let value = 0
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = bytes[at++]
      if (byte === undefined) throw incomplete()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    let high = 0n
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) break
      high |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(BigInt.asIntN(64, high | BigInt(value)))
    }
    throw incomplete()
  }
  const take = (length: number): Buffer => {
    if (length > bytes.length - at) throw incomplete()
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const key = whole()
    const wire = key % 8
    const field = byNumber.get(Math.trunc(key / 8))
    if (wire === FIXED64 || wire === FIXED32) take(wire === FIXED64 ? 8 : 4)
    else if (wire === VARINT || wire === BYTES) {
      const value = wire === VARINT ? whole() : take(whole())
      if (field === undefined) continue
      const read = decodedValue(value, field.type)
      if (!field.isList) message[field.name] = read
      else {
        const list = message[field.name] as unknown[] | undefined
        if (list) list.push(read)
        else message[field.name] = [read]
      }
    } else throw new Error(`etcd sent a message with a field of the unknown wire type ${wire}`)
  }
  return message as T
}

interface Numbered {
  readonly name: string
  readonly type: FieldType
  readonly isList: boolean
}

const tables = new WeakMap<MessageFields, ReadonlyMap<number, Numbered>>()

function numbered(fields: MessageFields): ReadonlyMap<number, Numbered> {
  const known = tables.get(fields)
  if (known) return known
  const table = new Map(Object.entries(fields).map(([name, [number, type, list]]) => [number, { name, type, isList: list !== undefined }]))
  tables.set(fields, table)
  return table
}

const incomplete = (): Error => new Error('etcd sent a message that ends too early')

function decodedValue(value: number | Buffer, type: FieldType): unknown {
  if (typeof value === 'number') return type === 'flag' ? value !== 0 : value
  if (type === 'bytes') return value
  return typeof type === 'function' ? decodeMessage(value, type()) : value.toString()
}

/** A whole number, a negative one in ten bytes. */
function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return Uint8Array.from([...bytes, Number(rest)])
}
