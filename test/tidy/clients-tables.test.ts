// Fails when: a document shows other numbers of clients as they are than those in
// scripts/clients/results.json, or leaves a row out.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { http2Rows, keptResults, ledgerRows, shortRows } from '../../scripts/clients/tables.mjs'

const rowsOf = (path: string, isOurs: (line: string) => boolean): string[] =>
  readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| ') && isOurs(line))

/** The rows below the header that begins with these words. */
function tableBelow(path: string, header: string): string[] {
  const [, ...parts] = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8').split(header)
  expect(parts).toHaveLength(1)
  const [, , ...lines] = (parts[0] as string).split('\n')
  return lines.slice(0, lines.indexOf(''))
}

test('the README has the short table', () => {
  expect(rowsOf('README.md', (line) => /^\| (HTTPS|HTTP\/2)/.test(line))).toEqual(shortRows(keptResults()))
})

test('docs/performance.md has the whole one', () => {
  expect(tableBelow('docs/performance.md', '| client, requests at a time | quiesce | with a delay |')).toEqual(ledgerRows(keptResults()))
})

test('docs/http2.md has that of HTTP/2', () => {
  expect(tableBelow('docs/http2.md', "| client, requests at a time | quiesce | `server.close()` | Go's server |")).toEqual(
    http2Rows(keptResults()),
  )
})
