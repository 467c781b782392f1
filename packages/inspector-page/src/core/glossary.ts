/**
 * The words of the page that are not everyday ones, as docs/architecture.md has them: a test holds
 * that they are the same.
 */
export const GLOSSARY = {
  signal: 'a fact about a life that becomes true once and stays so: `ShutdownInitiated`. Not an OS signal',
  phase: 'a piece of work between two signals: `request-drain`. One row of the wiring table, one region of the root machine',
  hook: "a function of the user's that runs in a phase; post-start or pre-shutdown, as upstream names them",
  drain: 'to let nothing new in and wait until what is in flight is over',
  watch: 'a long-running exchange: upgraded, an event stream, or marked as one. Drained apart from requests',
  hold: 'work that is not HTTP and joins the request drain until it settles',
  budget: 'how the deadline is divided: each group of phases has an instant by which it must be over',
  cut: 'such an instant, `Cut.requests`, and the end of a phase that reaches it: its deadline is exceeded',
  grace: 'the longest time that is waited for something, watches for example',
  forced: 'the deadline of the whole stop is reached; whatever is left ends now',
  notify: 'to say to a client, in an answer, that its connection closes, so that it reconnects elsewhere: `Connection: close` of HTTP/1.1',
  'last call': 'the short time after the listeners closed in which idle connections may still bring a request',
  audit: "an API server's record of who asked for what; the events that are left at its end are written in `audit-shutdown`",
} as const

export type GlossaryWord = keyof typeof GLOSSARY

/** The words that the page says beside those of the table. */
const ALSO: Readonly<Partial<Record<GlossaryWord, string>>> = { notify: 'notified', cut: 'Cut.…' }

export const glossaryTerm = (word: GlossaryWord): string => [word, ALSO[word]].filter(Boolean).join(', ')

/** The meaning of a word, for a tooltip. */
export const meaningOf = (word: GlossaryWord): string => `${word}: ${GLOSSARY[word].replaceAll('`', '')}`
