// @ts-check
// The text of a file with all of its mutants in it, each behind a switch: `globalThis.isMutant(n)`
// is asked where the mutant of that number differs, so that a warm process can try one after the
// other, and knows which of them a test reaches.

/**
 * @typedef {import('./mutants.mjs').CodeMutant} CodeMutant
 * @typedef {{ start: number, end: number, isStatement: boolean, mutants: CodeMutant[] }} Place
 */

/**
 * @param {string} code
 * @param {readonly CodeMutant[]} mutants of this file
 * @param {(mutant: CodeMutant) => number} numberOf
 */
export function switched(code, mutants, numberOf) {
  const places = placesOf(mutants)
  let next = 0
  /** The text from one offset to another, with the places in it. @param {number} from @param {number} to @returns {string} */
  const within = (from, to) => {
    let text = ''
    let at = from
    for (let place = places[next]; place && place.end <= to; place = places[next]) {
      next += 1
      text += code.slice(at, place.start) + ofPlace(place)
      at = place.end
    }
    return text + code.slice(at, to)
  }
  /** @param {Place} place */
  const ofPlace = ({ start, end, isStatement, mutants: here }) => {
    const original = within(start, end)
    // Braces keep an `else` with its own `if`, and end the line before, which may have no semicolon.
    if (isStatement) return `{ if (!(${here.map((mutant) => isMutant(numberOf(mutant))).join(' || ')})) { ${original} } }`
    const others = here.map((mutant) => `${isMutant(numberOf(mutant))} ? (${edited(code, mutant, start, end)}) : `)
    return `(${others.join('')}(${original}))`
  }
  return within(0, code.length)
}

const isMutant = (/** @type {number} */ number) => `globalThis.isMutant(${number})`

/** @param {string} code @param {CodeMutant} mutant @param {number} from @param {number} to */
const edited = (code, { start, end, text }, from, to) => code.slice(from, start) + text + code.slice(end, to)

/** In the order of the text, the outer before the inner. @param {readonly CodeMutant[]} mutants @returns {Place[]} */
function placesOf(mutants) {
  /** @type {Map<string, Place>} */
  const places = new Map()
  for (const mutant of mutants) {
    if (!mutant.whole) continue
    const key = Object.values(mutant.whole).join()
    const place = places.get(key) ?? { ...mutant.whole, mutants: [] }
    place.mutants.push(mutant)
    places.set(key, place)
  }
  return [...places.values()].sort((a, b) => a.start - b.start || b.end - a.end || Number(b.isStatement) - Number(a.isStatement))
}
