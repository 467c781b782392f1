/**
 * The part of a log of SQLite that is not as it was written, such as `page 2`; undefined: all of it
 * is, but for what a crash may leave.
 *
 * SQLite reads its log up to the first page whose checksum is wrong, as a crash leaves one. When
 * pages of a later transaction are there behind it, the wrong one had been durable, and what was
 * acknowledged after it would be lost without a word.
 *
 * The text of this function is a part of the file engine's thread: it uses nothing from outside of
 * itself.
 */
export function logDamage(log: Buffer): string | undefined {
  const HEAD = 32
  const FRAME = 24
  // Of a first write that a crash has cut off, the head may be missing.
  if (log.length < HEAD + FRAME || log.subarray(0, HEAD).every((byte) => byte === 0)) return undefined
  const pageSize = log.readUInt32BE(8)
  const isLittle = (log.readUInt32BE(0) & 1) === 0
  const word = (at: number): number => (isLittle ? log.readUInt32LE(at) : log.readUInt32BE(at))
  const sum = (from: number, to: number, [first, second]: readonly [number, number]): [number, number] => {
    let [a, b] = [first, second]
    for (let at = from; at < to; at += 8) {
      a = (a + word(at) + b) >>> 0
      b = (b + word(at + 4) + a) >>> 0
    }
    return [a, b]
  }
  const salt = log.subarray(16, 24)
  let sums = sum(0, 24, [0, 0])
  // SQLite would read nothing of such a log.
  if (log.readUInt32BE(24) !== sums[0] || log.readUInt32BE(28) !== sums[1]) return 'the head'
  let bad: number | undefined
  let isBehindCommit = false
  for (let at = HEAD; at + FRAME + pageSize <= log.length; at += FRAME + pageSize) {
    const isOfThis = log.subarray(at + 8, at + 16).equals(salt)
    if (bad === undefined) {
      sums = sum(at, at + 8, sums)
      sums = sum(at + FRAME, at + FRAME + pageSize, sums)
      if (isOfThis && log.readUInt32BE(at + 16) === sums[0] && log.readUInt32BE(at + 20) === sums[1]) continue
      bad = (at - HEAD) / (FRAME + pageSize) + 1
    }
    if (!isOfThis) continue
    if (isBehindCommit) return `page ${bad}`
    isBehindCommit = log.readUInt32BE(at + 4) !== 0
  }
  return undefined
}
