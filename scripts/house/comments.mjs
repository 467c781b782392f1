// @ts-check
// Doc comments that do not begin with their subject. A reader has to know what a sentence is about
// before what it says: a comment that begins with a preposition, a pronoun, an adverb or a participle
// leaves that to the name below it, or to nothing.
//
// Three beginnings are a subject although their first word may look like none: a question that names
// what it asks for (`Whether it serves`, `Where it listens`, `Who is asked`), a word of number or
// possession with its noun (`One line for each problem`, `Its own limit`; not `One that is late`), and
// `nothing` or `something` of which the sentence says what it is (`Nothing is left`).
import ts from 'typescript'
import { nodesBelow, ownTexts, parsed } from './sources.mjs'

const WITHOUT_SUBJECT = new Set(
  [
    'of for in at on by with without from to into until till before after behind beside between among as than like since during against under over within',
    'it its they them their theirs he she his her those these that this one ones some others none both each all many most',
    'also only then never not no once twice always already else otherwise again here there still even just so too while if unless because though',
    'told asked called given made kept said seen read written heard left taken known',
    'whom whatever whichever nothing something',
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

/** Before a noun each is a part of the subject. */
const DETERMINERS = new Set('one each all most some no both its their this these those many other others'.split(' '))
/** After a determiner: it stands for a noun that is not there. */
const NO_NOUN =
  /^(?:of|that|which|who|whom|whose|with|without|by|in|on|at|to|from|for|as|than|once|when|while|if|or|and|but|is|are|was|were|has|have|may|can|after|before|behind|until|under|beside|whatever|not|also|only|more|less|other)$/

/** @param {string} words */
export function hasSubject(words) {
  const [, first = '', end, second = ''] = /^([A-Za-z]+)(\s|[,.:;])(?:([A-Za-z]+)(?![A-Za-z]))?/.exec(words) ?? []
  const word = first.toLowerCase()
  if (!WITHOUT_SUBJECT.has(word)) return true
  if (word === 'nothing' || word === 'something') return /^(?:is|are|was|has|that|which|comes|can|may)$/.test(second)
  return DETERMINERS.has(word) && end === ' ' && second !== '' && !NO_NOUN.test(second)
}
