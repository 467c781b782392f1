// @ts-check
// Imports that go upward: a file names one whose floor comes later. The floors are those that
// test/tidy/imports.test.ts lists.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { importsOf, nodesBelow, ownTexts, parsed, ROOT } from './sources.mjs'

const LIST = 'test/tidy/imports.test.ts'

/** The floors from the lowest to the highest, by how the paths of their files begin. */
export function floors(text = readFileSync(join(ROOT, LIST), 'utf8')) {
  const list = [...nodesBelow(parsed(LIST, text))].find((node) => ts.isVariableDeclaration(node) && node.name.getText() === 'LAYERS')
  return [...(list ? nodesBelow(list) : [])].flatMap((node) =>
    ts.isPropertyAssignment(node) && node.name.getText() === 'place' && ts.isStringLiteral(node.initializer) ? [node.initializer.text] : [],
  )
}

/**
 * Each as `a.ts -> b.ts`.
 * @param {ReadonlyMap<string, string>} texts
 * @param {readonly string[]} places
 */
export function upward(texts = ownTexts(), places = floors()) {
  const floorOf = (/** @type {string} */ path) => places.findIndex((place) => path.startsWith(place))
  return [...texts].flatMap(([path, text]) =>
    importsOf(path, text)
      .filter((target) => floorOf(target) > floorOf(path))
      .map((target) => `${path} -> ${target}`),
  )
}
