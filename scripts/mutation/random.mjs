// @ts-check

/** A random number of 32 bits after the other. @param {number} seed */
function random(seed) {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
}

/** Different ones, as many as there are at most. @template T @param {readonly T[]} all @param {number} count @param {number} seed @returns {T[]} */
export function drawn(all, count, seed) {
  const left = [...all]
  const next = random(seed)
  return Array.from({ length: Math.min(count, left.length) }, () => /** @type {T} */ (left.splice(next() % left.length, 1)[0]))
}
