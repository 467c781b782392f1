// @ts-check

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** @param {number} type @param {{ flags?: number, stream?: number, payload?: Buffer }} [parts] */
export function frame(type, { flags = 0, stream = 0, payload = Buffer.alloc(0) } = {}) {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A whole request without a body, its headers neither compressed nor remembered. @param {Readonly<Record<string, string>>} headers @param {number} stream */
export const headersFrame = (headers, stream) =>
  frame(1, {
    flags: 0x5,
    stream,
    payload: Buffer.concat(Object.entries(headers).flatMap(([name, value]) => [Buffer.of(0), text(name), text(value)])),
  })

/** @param {string} value @see RFC 7541 section 5.1 */
function text(value) {
  const bytes = Buffer.from(value, 'latin1')
  if (bytes.length < 0x7f) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const length = [0x7f]
  let rest = bytes.length - 0x7f
  for (; rest >= 0x80; rest >>= 7) length.push((rest & 0x7f) | 0x80)
  return Buffer.concat([Buffer.from([...length, rest]), bytes])
}
