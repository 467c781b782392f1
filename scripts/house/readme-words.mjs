// @ts-check
// How long the README is for a reader: words outside code, and what comes before the first install.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './sources.mjs'

/** @param {string} text */
export function readmeWords(text = readFileSync(join(ROOT, 'README.md'), 'utf8')) {
  const install = text.search(/npm (?:i|install) /)
  const words = (/** @type {string} */ part) =>
    part
      .replace(/```[\s\S]*?(?:```|$)/g, ' ')
      .replace(/<!--[\s\S]*?-->/g, ' ')
      .replace(/\]\([^)]*\)/g, ']')
      .split(/\s+/)
      .filter((word) => /[a-z]/i.test(word)).length
  return { words: words(text), beforeInstall: install < 0 ? words(text) : words(text.slice(0, install)) }
}
