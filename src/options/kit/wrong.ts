import { didYouMean } from '../../base/did-you-mean.ts'
import { show } from '../../base/errors.ts'

/** What is wrong with a value, and where in it. */
export interface Wrong {
  /** `.paths.livez`, `[0].admit`; empty for the value itself. */
  readonly path: string
  readonly given: unknown
  readonly allowed: string
  /** What is allowed, for who can only write text. */
  readonly allowedAsText?: string
  /** The field next to it that this is about, as `.certFile`; its name ends what is allowed. */
  readonly beside?: string
  /** Instead of what was given and what is allowed. */
  readonly words?: string
  /** What upstream says about it, which stands behind what is allowed. */
  readonly upstream?: string
}

/** `: got "livez", allowed: a path …`, to be put behind the name. */
export const wordsOf = ({ given, allowed, words }: Pick<Wrong, 'given' | 'allowed' | 'words'>): string =>
  `: ${words ?? `got ${show(given)}, allowed: ${allowed}`}`

/** What is allowed, in words. @param labelOf how the field next to it is called */
export const allowedWords = ({ allowed, allowedAsText, beside }: Wrong, asText: boolean, labelOf: (path: string) => string): string =>
  `${(asText && allowedAsText) || allowed}${beside === undefined ? '' : ` beside ${labelOf(beside)}`}`

/** The same, seen from the object that has the value at this place. */
export const at = (place: string, { path, ...wrong }: Wrong): Wrong => ({ ...wrong, path: `${place}${path}` })

/** A field, as code would name it: `.livez`, `["x y"]`. */
export const fieldPath = (name: string): string => (/^[\w$-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`)

/** A field that there is not. */
export function unknownField(name: string, given: unknown, names: readonly string[]): Wrong {
  const allowed = names.join(', ')
  return { path: fieldPath(name), given, allowed, words: `unknown${didYouMean(name, names) || `, allowed: ${allowed}`}` }
}

/**
 * The first field that is like one of the names, and none of them. What users implement has fields
 * of its own besides: a misspelt one is all that can be told from those.
 */
export function misspeltFieldOf(given: object, names: readonly string[]): Wrong | undefined {
  const name = Object.keys(given).find((each) => didYouMean(each, names) !== '')
  return name === undefined ? undefined : unknownField(name, given[name as never], names)
}

/** The first of a list that is refused. A value that is no list is wrong itself. */
export function wrongItem(given: unknown, allowed: string, wrong: (item: unknown) => Wrong | undefined): Wrong | undefined {
  if (!Array.isArray(given)) return { path: '', given, allowed }
  for (const [index, item] of given.entries()) {
    const found = wrong(item)
    if (found) return at(`[${index}]`, found)
  }
  return undefined
}
