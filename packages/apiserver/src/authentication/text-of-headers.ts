/**
 * The text of a header, whose bytes node reads as Latin-1.
 * @throws Error with these words for bytes that are no UTF-8
 */
export function utf8Of(value: string, otherwise: string): string {
  if (!/[\x80-\xff]/.test(value)) return value
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1'))
  } catch {
    throw new Error(otherwise)
  }
}

/**
 * A key in the name of a header, in small letters: one character per byte. One with an escape that
 * is none stays as it is.
 */
export const unescapedKey = (key: string): string =>
  /%(?![\da-f]{2})/.test(key) ? key : key.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
