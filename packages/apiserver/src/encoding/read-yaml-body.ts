import type { Document, Scalar, Tags } from 'yaml'
import { BODY_DEPTH_MAX } from './body-depth.ts'
import { inexactNumber, isExact } from './exact-number.ts'

/** What the parser has on its stack around the outermost value, and in the innermost one. */
const AROUND = 2

/**
 * Pieces that a body may have: names, values, spaces and signs. It is they that take the time, a
 * hundred times as long as those of JSON, and not the bytes.
 */
const PIECES_MAX = 16_384

/**
 * Kinds of values that JSON has no word for, by the ends of their tags. What looks like one is the
 * text, map or list that it is written as: a date stays the text that was sent, as upstream.
 */
const NOT_OF_JSON = /:(?:timestamp|set|omap|pairs)$/

/** What the tags of YAML 1.1 are without {@link NOT_OF_JSON}. */
const ofJson = (tags: Tags): Tags => tags.filter((tag) => typeof tag === 'string' || !NOT_OF_JSON.test(tag.tag))

/** A body that was read. */
export interface YamlBody {
  readonly value: unknown
  /** Paths of fields that stand in their object twice: `spec.size`. The last one counts. */
  readonly duplicates: readonly string[]
}

/**
 * One document of YAML as clients send it, read by the rules of YAML 1.1 as upstream reads it: `y`
 * is true. What stands for too much by its aliases is refused, and so is what would take long.
 * An error shows no more of the text than a number or a name: it may hold secrets.
 * @throws Error
 */
export async function readYamlBody(text: string, duplicatesMax: number): Promise<YamlBody> {
  const { Composer, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, visit } = await import('yaml')
  const lines = new LineCounter()
  lines.addNewLine(0)
  const wrong = (why: string, at: number): Error => {
    const { line, col } = lines.linePos(at)
    return new Error(`${why} at line ${line}, column ${col}`)
  }
  const parser = new Parser(lines.addNewLine)
  function* tokens() {
    let pieces = 0
    for (const piece of new Lexer().lex(text)) {
      if (++pieces > PIECES_MAX) throw new Error(`has more than ${PIECES_MAX} names, values, spaces and signs`)
      for (const token of parser.next(piece)) {
        // The first says enough, and the parser would go on to say thousands.
        if (token.type === 'error') throw wrong(token.message, token.offset)
        yield token
      }
      if (parser.stack.length > BODY_DEPTH_MAX + AROUND) throw new Error('exceeded max depth')
    }
    for (const token of parser.end()) {
      if (token.type === 'error') throw wrong(token.message, token.offset)
      yield token
    }
  }
  let document: Document.Parsed | undefined
  // What the parser warns of, it would write to the log of the process, whenever a client sends it.
  for (const each of new Composer({ version: '1.1', uniqueKeys: false, customTags: ofJson, logLevel: 'error' }).compose(
    tokens(),
    true,
    text.length,
  )) {
    if (document !== undefined) throw wrong('has more than one document', each.range[0])
    document = each
    const [error] = each.errors
    if (error !== undefined) throw wrong(error.message, error.pos[0])
  }
  if (document === undefined) return { value: undefined, duplicates: [] }
  visit(document, {
    Scalar: (_, scalar) => {
      if (!isKept(scalar)) throw new Error(inexactNumber(scalar.source ?? ''))
      if (scalar.value instanceof Uint8Array) scalar.value = Buffer.from(scalar.value).toString()
    },
  })
  const duplicates: string[] = []
  const look = (node: unknown, path: string): void => {
    if (isSeq(node)) for (const [index, item] of node.items.entries()) look(item, `${path}[${index}]`)
    if (!isMap(node)) return
    const names = new Set<string>()
    for (const { key, value } of node.items) {
      // Where the name is a list, or merges another object, there is none to tell of.
      const name = isScalar(key) && typeof key.value !== 'symbol' ? String(key.value) : undefined
      const at = name === undefined || path === '' ? (name ?? path) : `${path}.${name}`
      if (name !== undefined && names.has(name) && duplicates.length < duplicatesMax) duplicates.push(at)
      if (name !== undefined) names.add(name)
      look(value, at)
    }
  }
  look(document.contents, '')
  return { value: document.toJS() as unknown, duplicates }
}

/** Whether what was read of a number is what was sent. */
function isKept({ value, source = '' }: Scalar): boolean {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return true
  if (!Number.isFinite(value)) return false
  const isHexadecimal = /^[-+]?0x/i.test(source)
  if (!Number.isInteger(value) || (!isHexadecimal && /[.e]/i.test(source))) return true
  const literal = source.replaceAll('_', '').replace(/^\+/, '')
  return /^-?\d+$/.test(literal) && isExact(literal)
}
