// @ts-check
// Words of the project's own dialect that are on their way out: how often each still stands in the
// sources, in names, texts and comments alike.
import { ownTexts } from './sources.mjs'

/** Each with what replaces it. */
export const RETIRED = /** @type {const} */ ({
  told: 'notified',
  tell: 'notify',
  tells: 'notifies',
  untold: 'unnotified',
  spoken: 'protocol',
  lookedat: 'importOnly',
  obedience: 'isOwnAbort',
  standing: 'default headers, configuration, status',
  doing: 'command',
  doings: 'commands',
  harvest: 'collected',
  sight: 'value',
  hearing: 'eventIndex',
  keeper: 'TrafficPort',
  accounts: 'ExchangeObserver',
  chainRunner: 'runChain',
  tally: 'counts',
  calm: 'floodLimits',
  lastwords: 'finalOutput',
  deaf: 'unreachableBySignal',
  deafness: 'unreachableBySignal',
})
/** Two words that are one term. */
const TERMS = { lookedat: ['looked', 'at'], lastwords: ['last', 'words'] }

/**
 * How often each word stands in the texts: names are taken apart at their capitals.
 * @param {ReadonlyMap<string, string>} texts
 * @returns {Readonly<Record<string, number>>}
 */
export function retiredWords(texts = ownTexts()) {
  const counts = new Map(Object.keys(RETIRED).map((word) => [word, 0]))
  const count = (/** @type {string} */ word) => counts.has(word) && counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const text of texts.values()) {
    const words = wordsOf(text)
    for (const [at, word] of words.entries()) {
      count(word)
      for (const [term, [first, second]] of Object.entries(TERMS)) if (word === first && words[at + 1] === second) count(term)
    }
  }
  return Object.fromEntries(counts)
}

/** @param {string} text */
const wordsOf = (text) => (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => word.toLowerCase())
