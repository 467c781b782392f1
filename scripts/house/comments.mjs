// @ts-check
// Doc comments that do not begin with their subject. A reader has to know what a sentence is about
// before what it says: a comment that begins with a preposition, a pronoun, an adverb or a negation
// leaves that to the name below it, or to nothing. `Whether`, `What` and `How` begin a clause that
// is the subject.
import ts from 'typescript'
import { nodesBelow, ownTexts, parsed } from './sources.mjs'

const WITHOUT_SUBJECT = new Set(
  [
    'of for in at on by with without from to into until till before after behind beside between among as than like since during against under over within',
    'it its they them their theirs he she his her those these that this one ones some others none both each all many most',
    'also only then never not no once twice always already else otherwise again here there still even just so too where when while if unless because though',
    'told asked called given made kept said seen read written heard left taken known',
    'which who whom whose whatever whichever nothing something',
  ]
    .join(' ')
    .split(' '),
)

/**
 * Each doc comment of a declaration with its first sentence, and whether it has a subject.
 * @param {ReadonlyMap<string, string>} texts
 */
export function docComments(texts = ownTexts()) {
  return [...texts].flatMap(([path, text]) => {
    const source = parsed(path, text)
    const seen = new Set()
    return [...nodesBelow(source)].flatMap((node) =>
      ts
        .getJSDocCommentsAndTags(node)
        .filter(ts.isJSDoc)
        .flatMap((doc) => {
          if (seen.has(doc.pos)) return []
          seen.add(doc.pos)
          const words = ts.getTextOfJSDocComment(doc.comment)?.replace(/\s+/g, ' ').trim() ?? ''
          if (words === '') return []
          const [sentence = words] = words.split(/(?<=[.:;])\s/)
          const line = source.getLineAndCharacterOfPosition(doc.pos).line + 1
          return [{ place: `${path}:${line}`, sentence, hasSubject: hasSubject(words) }]
        }),
    )
  })
}

/** @param {string} words */
export function hasSubject(words) {
  const [first = ''] = /^[A-Za-z]+(?=[\s,.:;])/.exec(words) ?? []
  return !WITHOUT_SUBJECT.has(first.toLowerCase())
}
