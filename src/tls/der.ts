/**
 * DER, as far as a certificate needs it: every value is its tag, its length and its content.
 * @see ITU-T X.690
 */

const CONSTRUCTED = 0x20
const CONTEXT = 0x80
const LONG_FORM = 0x80

const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_IDENTIFIER = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const GENERALIZED_TIME = 0x18
const SEQUENCE = 0x10 | CONSTRUCTED
const SET = 0x11 | CONSTRUCTED

function lengthOf(content: Uint8Array): number[] {
  if (content.length < LONG_FORM) return [content.length]
  const bytes: number[] = []
  for (let rest = content.length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff)
  return [LONG_FORM | bytes.length, ...bytes]
}

function value(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content)]), content])
}

export const derSequence = (...parts: readonly Uint8Array[]): Buffer => value(SEQUENCE, ...parts)
export const derSet = (...parts: readonly Uint8Array[]): Buffer => value(SET, ...parts)
export const derOctets = (content: Uint8Array): Buffer => value(OCTET_STRING, content)
export const derUtf8 = (text: string): Buffer => value(UTF8_STRING, Buffer.from(text))
export const DER_TRUE = Buffer.from([0x01, 0x01, 0xff])

/** A string of bits, as many as the bytes have but for `unused` ones at the end of the last. */
export const derBits = (content: Uint8Array, unused = 0): Buffer => value(BIT_STRING, Buffer.from([unused]), content)

/** An integer that is not negative: a first bit that is set would be the sign. */
export function derInteger(content: Uint8Array): Buffer {
  let start = 0
  while (start < content.length - 1 && content[start] === 0) start++
  const digits = content.subarray(start)
  return value(INTEGER, Buffer.from((digits[0] ?? 0) >= 0x80 ? [0] : []), digits)
}

/** `2.5.4.3` */
export function derOid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second]
  for (const part of rest) {
    const groups = [part & 0x7f]
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80)
    bytes.push(...groups)
  }
  return value(OBJECT_IDENTIFIER, Buffer.from(bytes))
}

/** A time to the second; two digits of the year up to 2049, as certificates have it. */
export function derTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\.\d+Z$|[-:T]/g, '')
  const isLate = new Date(ms).getUTCFullYear() >= 2050
  return value(isLate ? GENERALIZED_TIME : UTC_TIME, Buffer.from(`${isLate ? digits : digits.slice(2)}Z`))
}

/** A value that is known by its number where it stands. */
export const derTagged = (number: number, content: Uint8Array): Buffer => value(CONTEXT | number, content)
export const derTaggedParts = (number: number, ...parts: readonly Uint8Array[]): Buffer => value(CONTEXT | CONSTRUCTED | number, ...parts)
