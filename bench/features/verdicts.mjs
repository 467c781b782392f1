/** @typedef {{ verdict: 'yes' | 'partly' | 'no' | 'not applicable' | 'not run', evidence: string }} Verdict */

const verdict = (/** @type {Verdict['verdict']} */ word) => (/** @type {string} */ evidence) =>
  /** @type {Verdict} */ ({ verdict: word, evidence })

export const yes = verdict('yes')
export const partly = verdict('partly')
export const no = verdict('no')
/** What is not its job. */
export const na = verdict('not applicable')
/** What nothing here has looked at. */
export const notRun = verdict('not run')

export const seconds = (/** @type {number} */ ms) => `${(ms / 1000).toFixed(1)} s`
/** An answer with a status of 4xx or 5xx. */
export const isRefusal = (/** @type {string | undefined} */ what) => /^[45]\d\d$/.test(what ?? '')
