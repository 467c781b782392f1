import { createHash } from 'node:crypto'
import ts from 'typescript'
import { lineOf, type Source, sources, walk } from './sources.ts'

/** A regular expression of the product, as it stands in its source. */
export interface Expression {
  readonly path: string
  readonly line: number
  readonly source: string
  readonly flags: string
}

/** What builds one in a way that only a run can read. */
export interface Composed {
  readonly path: string
  readonly line: number
  readonly text: string
}

/** What is published: tests and scripts read what they have written themselves. */
export const productSources = (): readonly Source[] =>
  ['src', 'packages'].flatMap(sources).filter(({ path }) => /^(?:src|packages\/[^/]+\/src)\//.test(path))

/** The literals, and what is put together when the program runs. */
export function expressionsIn(all: readonly Source[]): {
  readonly literals: readonly Expression[]
  readonly composed: readonly Composed[]
} {
  const literals: Expression[] = []
  const composed: Composed[] = []
  for (const { path, ast } of all)
    walk(ast, (node) => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/')
        literals.push({ path, line: lineOf(ast, node), source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
      } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText(ast) === 'RegExp') {
        const [first, second] = node.arguments ?? []
        if (first && ts.isStringLiteralLike(first) && (second === undefined || ts.isStringLiteralLike(second)))
          literals.push({ path, line: lineOf(ast, node), source: first.text, flags: second?.text ?? '' })
        else composed.push({ path, line: lineOf(ast, node), text: node.getText(ast).replace(/\s+/g, ' ') })
      }
    })
  return { literals, composed }
}

/**
 * What a module puts together while it is loaded, as regular expressions are made of pieces that
 * have names.
 */
export async function builtBy(load: () => Promise<unknown>): Promise<readonly Pick<Expression, 'source' | 'flags'>[]> {
  const built: RegExp[] = []
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct: (target, args: ConstructorParameters<typeof RegExp>) => {
      const expression = new target(...args)
      built.push(expression)
      return expression
    },
  })
  try {
    await load()
  } finally {
    globalThis.RegExp = original
  }
  return built
}

/** By which a verdict is remembered. */
export const keyOf = ({ source, flags }: Pick<Expression, 'source' | 'flags'>): string =>
  createHash('sha256').update(`/${source}/${flags}`).digest('base64url').slice(0, 16)
