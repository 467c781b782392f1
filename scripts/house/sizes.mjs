// @ts-check
// How large classes and files are.
import ts from 'typescript'
import { nodesBelow, ownTexts, parsed } from './sources.mjs'

/**
 * Every class with its lines, comment apart, and its members: fields, methods and accessors,
 * private ones too. Overloads and the two accessors of one name are one.
 * @param {ReadonlyMap<string, string>} texts
 */
export function classes(texts = ownTexts()) {
  return [...texts].flatMap(([path, text]) => {
    const source = parsed(path, text)
    return [...nodesBelow(source)].filter(ts.isClassLike).map((node) => ({
      name: node.name?.text ?? '(anonymous)',
      path,
      lines: linesBetween(source, node.getStart(source), node.end),
      members: new Set(node.members.flatMap((member) => member.name?.getText(source) ?? [])).size,
    }))
  })
}

/** @param {ts.SourceFile} source @param {number} start @param {number} end */
const linesBetween = (source, start, end) =>
  source.getLineAndCharacterOfPosition(end).line - source.getLineAndCharacterOfPosition(start).line + 1

/** Every file with its lines. @param {ReadonlyMap<string, string>} texts */
export const files = (texts = ownTexts()) => [...texts].map(([path, text]) => ({ path, lines: text.trimEnd().split('\n').length }))
