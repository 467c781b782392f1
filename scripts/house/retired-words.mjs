// @ts-check
// Words of the project's own dialect that are on their way out: how often each still stands in the
// sources.
//
// Most of them are good English in a sentence: "a client is told to leave" says what it means. As
// names they are dialect: `idleUntold` does not. So those are counted in names alone: identifiers,
// names of files, and texts of one word, such as options, flags, states and log fields. The others
// are counted wherever they stand, comments and messages included.
import { basename } from 'node:path'
import ts from 'typescript'
import { nodesBelow, ownTexts, parsed } from './sources.mjs'

/** Each with what replaces it, and where it is counted. */
export const RETIRED = /** @type {const} */ ({
  told: { now: 'notified', in: 'names' },
  tell: { now: 'notify', in: 'names' },
  tells: { now: 'notifies', in: 'names' },
  untold: { now: 'unnotified', in: 'all' },
  spoken: { now: 'protocol', in: 'names' },
  lookedat: { now: 'importOnly', in: 'names' },
  obedience: { now: 'isOwnAbort', in: 'all' },
  standing: { now: 'default headers, configuration, status', in: 'all' },
  doing: { now: 'command', in: 'names' },
  doings: { now: 'commands', in: 'all' },
  harvest: { now: 'collected', in: 'all' },
  sight: { now: 'value', in: 'names' },
  hearing: { now: 'eventIndex', in: 'names' },
  keeper: { now: 'TrafficPort', in: 'all' },
  accounts: { now: 'ExchangeObserver', in: 'names' },
  passage: { now: 'runChain', in: 'all' },
  tally: { now: 'counts', in: 'all' },
  calm: { now: 'floodLimits', in: 'names' },
  lastwords: { now: 'finalOutput', in: 'names' },
  deaf: { now: 'unreachableBySignal', in: 'all' },
  deafness: { now: 'unreachableBySignal', in: 'all' },
})
/** Two words that are one term. */
const TERMS = { lookedat: ['looked', 'at'], lastwords: ['last', 'words'] }
/** Names of others: the error code of HTTP/2 that RFC 9113 calls so. */
const NOT_OURS = /ENHANCE_YOUR_CALM/g

/**
 * How often each word stands in the texts: names are taken apart at their capitals.
 * @param {ReadonlyMap<string, string>} texts by path
 * @returns {Readonly<Record<string, number>>}
 */
export function retiredWords(texts = ownTexts()) {
  const counts = new Map(Object.keys(RETIRED).map((word) => [word, 0]))
  const count = (/** @type {readonly string[]} */ words, /** @type {'names' | 'all'} */ where) => {
    const is = (/** @type {string} */ word) => RETIRED[/** @type {keyof typeof RETIRED} */ (word)]?.in === where
    const add = (/** @type {string} */ word) => counts.set(word, (counts.get(word) ?? 0) + 1)
    for (const [at, word] of words.entries()) {
      if (is(word)) add(word)
      for (const [term, [first, second]] of Object.entries(TERMS)) if (is(term) && word === first && words[at + 1] === second) add(term)
    }
  }
  for (const [path, text] of texts) {
    count(wordsOf(text), 'all')
    for (const name of [basename(path), ...namesIn(path, text)]) count(wordsOf(name), 'names')
  }
  return Object.fromEntries(counts)
}

/** Identifiers, and texts of one word. @param {string} path @param {string} text */
const namesIn = (path, text) =>
  [...nodesBelow(parsed(path, text))].flatMap((node) => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) return [node.text]
    return ts.isStringLiteralLike(node) && !/\s/.test(node.text) && !/^[.#]/.test(node.text) ? [node.text] : []
  })

/** @param {string} text */
const wordsOf = (text) => (text.replace(NOT_OURS, '').match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase())
