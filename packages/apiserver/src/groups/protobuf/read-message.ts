import { microTime } from '../../micro-time.ts'
import { isFields, setField } from '../api-object.ts'

/**
 * What a field of a message holds: a text, each text of a list, texts by name, a flag, a whole
 * number, a time in seconds or microseconds, or another message, or each message of a list.
 */
export type FieldShape =
  | 'text'
  | 'texts'
  | 'map'
  | 'flag'
  | 'whole'
  | 'time'
  | 'micro-time'
  | 'bytes'
  | MessageShape
  | readonly [MessageShape]

/** The fields of a message that are read, by their numbers; others are passed over. */
export interface MessageShape {
  readonly [number: number]: readonly [name: string, shape: FieldShape]
}

/** What stands in a message, by the names of its fields. */
export interface Message {
  [name: string]: unknown
}

/** Bytes that are no message. */
export class ProtobufError extends Error {}

/** Messages inside of messages. */
const DEPTH_MAX = 16
/** Fields of a message, as many as one of 3 MiB has none of in good faith. */
const FIELDS_MAX = 10_000

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/**
 * Reads a message of protocol buffers by a table of its fields.
 * @throws ProtobufError for what is no message, or is too deep
 */
export function readMessage(bytes: Buffer, shape: MessageShape, depth = 0): Message {
  if (depth > DEPTH_MAX) throw new ProtobufError('exceeded max depth')
  const message: Message = {}
  let at = 0
  let fields = 0
  const whole = (): number => {
    let value = 0
    let complement = 0
    for (let shift = 0; shift < 10; shift++) {
      const byte = bytes[at++]
      if (byte === undefined) throw new ProtobufError('unexpected EOF')
      // Numbers beyond 2^53 are none that anything here is about.
      value += (byte & 0x7f) * 2 ** (7 * shift)
      complement += (~byte & (shift < 9 ? 0x7f : 1)) * 2 ** (7 * shift)
      if (byte < 0x80) return value < 2 ** 63 ? value : -1 - complement
    }
    throw new ProtobufError('integer overflow')
  }
  const varint = (): number => {
    const value = whole()
    if (value < 0) throw new ProtobufError('integer overflow')
    return value
  }
  const skip = (length: number): Buffer => {
    if (length > bytes.length - at) throw new ProtobufError('unexpected EOF')
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    if (++fields > FIELDS_MAX) throw new ProtobufError('too many fields')
    const key = varint()
    const wire = key % 8
    const field = shape[Math.trunc(key / 8)]
    if (wire === WIRE.varint) {
      const value = whole()
      if (field?.[1] === 'flag') message[field[0]] = value !== 0
      else if (field?.[1] === 'whole') message[field[0]] = value
    } else if (wire === WIRE.fixed64 || wire === WIRE.fixed32) skip(wire === WIRE.fixed64 ? 8 : 4)
    else if (wire !== WIRE.bytes) throw new ProtobufError(`illegal wireType ${wire}`)
    else {
      const value = skip(varint())
      if (field !== undefined) setValue(message, field[0], fieldOf(value, field[1], depth))
    }
  }
  return message
}

function setValue(message: Message, name: string, value: unknown): void {
  const known = message[name]
  if (Array.isArray(value) && Array.isArray(known)) known.push(...(value as unknown[]))
  else if (value instanceof Entry) {
    const texts = isFields(known) ? known : {}
    setField(texts, value.key, value.value)
    message[name] = texts
  } else if (value !== undefined) message[name] = value
}

/** One entry of texts by name. */
class Entry {
  readonly key: string
  readonly value: string

  constructor({ key = '', value = '' }: { readonly key?: string; readonly value?: string }) {
    this.key = key
    this.value = value
  }
}

/** @see https://protobuf.dev/programming-guides/encoding/#maps */
const ENTRY: MessageShape = { 1: ['key', 'text'], 2: ['value', 'text'] }

function fieldOf(value: Buffer, shape: FieldShape, depth: number): unknown {
  if (shape === 'bytes') return value
  if (shape === 'text') return value.toString()
  if (shape === 'texts') return [value.toString()]
  if (shape === 'map') return new Entry(readMessage(value, ENTRY, depth + 1))
  // Not sent as a number: it says nothing.
  if (shape === 'flag' || shape === 'whole') return undefined
  if (shape === 'time' || shape === 'micro-time') return timeOf(readMessage(value, TIME, depth + 1), shape)
  return Array.isArray(shape)
    ? [readMessage(value, shape[0] as MessageShape, depth + 1)]
    : readMessage(value, shape as MessageShape, depth + 1)
}

/** @see kubernetes/apimachinery pkg/apis/meta/v1/generated.proto Time, MicroTime */
const TIME: MessageShape = { 1: ['seconds', 'whole'], 2: ['nanos', 'whole'] }

/** As a text; undefined: Go's zero time, which is none. */
function timeOf({ seconds, nanos }: Message, shape: 'time' | 'micro-time'): string | undefined {
  if (seconds === undefined && nanos === undefined) return undefined
  const micros = Math.trunc(Number(nanos ?? 0) / 1_000)
  try {
    const text = microTime(Number(seconds ?? 0) * 1_000 + micros / 1_000)
    return shape === 'time' ? `${text.slice(0, -'.000000Z'.length)}Z` : text
  } catch {
    throw new ProtobufError('time out of range')
  }
}
