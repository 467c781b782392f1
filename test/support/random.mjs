// @ts-check

/**
 * Numbers from 0 up to 1 that a seed decides: Marsaglia's xorshift of 32 bits. In JavaScript, because processes under test use it too.
 * @param {number} seed any whole number; neighbours give unrelated numbers
 * @returns {() => number}
 */
export function generator(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}
