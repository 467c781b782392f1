// Fails when: a regular expression of the product takes a time that grows faster than the text it
// is held against, and is not in the list of those that no client can reach; one client could stop
// a server with it. Verdicts of texts that have not changed are remembered in expressions.json;
// `npm run check:expressions` judges all of them anew and writes it.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { check } from 'recheck'
import { expect, test, vi } from 'vitest'
import { builtBy, type Expression, expressionsIn, keyOf, productSources } from './expressions.ts'
import { parse } from './sources.ts'

const VERDICTS = fileURLToPath(new URL('expressions.json', import.meta.url))
const isAnew = process.env['EXPRESSIONS'] === 'all'

/** Why an expression that is not linear harms nothing: where its text comes from. */
const HARMLESS: readonly { readonly path: string; readonly source: string; readonly why: string }[] = [
  { path: 'packages/apiserver/src/audit/log-backend.ts', source: String.raw`(\.\d*?)0+Z$`, why: 'the text is a time' },
  { path: 'packages/apiserver/src/audit/policy.ts', source: String.raw`\*+$`, why: 'the text is of the policy file' },
  {
    path: 'packages/apiserver/src/encoding/read-yaml.ts',
    source: String.raw`, (?:\.\.\.)?".*(?= is not valid JSON)`,
    why: 'the text is a message of V8, which shows a few characters of what it could not read',
  },
  { path: 'src/cli/printed-verdicts.ts', source: String.raw`\B(?=(\d{3})+$)`, why: 'the text is a number' },
  { path: 'src/cli/serving.ts', source: String.raw`_SERVICE_(HOST|PORT(_\w+)?)$`, why: 'the text is the name of an environment variable' },
  { path: 'src/diagram/drawing/legend.ts', source: String.raw`\[.+\]`, why: 'the text is a label of a picture' },
  { path: 'src/model/life/life-trace.ts', source: String.raw` \{.*\}$`, why: 'the text is a line of a trace' },
  { path: 'src/options/kit/kinds.ts', source: String.raw`^\[([\da-f:.]*:[^\]]*)\]$`, why: 'the text is an option' },
  { path: 'src/options/rows/tls.ts', source: String.raw`^\s*([^,:]+?)\s*,\s*([^,:]+?)\s*(:(.+))?$`, why: 'the text is a flag' },
  {
    path: 'src/testing/network/response-reader.ts',
    source: String.raw`^([^\s:]+):\s*(.*?)\s*$`,
    why: 'the text is the answer of the server under test',
  },
  { path: 'src/testing/trace/script-file.ts', source: String.raw`(^|\s)#.*$`, why: 'the text is a line of a script' },
  {
    path: 'src/tls/pair.ts',
    source: String.raw`-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----`,
    why: 'the text is a file of certificates',
  },
  { path: 'src/tls/self-signed.ts', source: String.raw`(\d+)\.(\d+)\.(\d+)\.(\d+)$`, why: 'the text is an address of the machine' },
  {
    path: 'packages/inspector-page/src/core/log-lines.ts',
    source: String.raw`^xstate\.after\.(.+?)\.\w+\..*$`,
    why: 'the text is an event of a machine',
  },
  { path: 'packages/model/src/engine/trace.ts', source: String.raw`\.(?=\S* → )`, why: 'the text is a line of a trace' },
]

/** Files that put expressions together while they are loaded: what comes of that is judged. */
const BUILT: Readonly<Record<string, () => Promise<unknown>>> = {
  'src/base/request-target.ts': () => import('#src/base/request-target.ts'),
}

/** The others: the texts are not ours. */
const OF_USERS: Readonly<Record<string, string>> = {
  'packages/apiserver/src/chain/cors.ts': 'of an option, held against an Origin of no more than the characters of its bound',
  'src/cli/schema.ts': 'of a schema of ours, held against flags',
  'packages/apiserver/src/groups/resource/schema.ts': 'of a kind, made to see whether it is one',
  'packages/apiserver/src/groups/resource/schema-walk.ts': 'of a kind, held against no more than 4096 characters',
}

async function judge({ source, flags }: Pick<Expression, 'source' | 'flags'>): Promise<string> {
  const verdict = await check(source, flags, { timeout: 20_000 })
  if (verdict.status === 'vulnerable') return `vulnerable: ${verdict.complexity.summary}`
  return verdict.status === 'safe' ? 'safe' : `no verdict: ${verdict.error.kind}`
}

const all = expressionsIn(productSources())

test('every regular expression takes a time that grows no faster than its text', { timeout: 300_000 }, async () => {
  vi.resetModules()
  const built = await Promise.all(
    Object.entries(BUILT).map(async ([path, load]) =>
      (await builtBy(load)).map((one) => ({ path, line: 0, source: one.source, flags: one.flags })),
    ),
  )
  expect(built.map((each) => each.length > 0)).not.toContain(false)
  const remembered = new Set<string>(isAnew ? [] : (JSON.parse(readFileSync(VERDICTS, 'utf8')) as string[]))
  const safe = new Set<string>()
  const wrong: string[] = []
  for (const expression of [...all.literals, ...built.flat()]) {
    const key = keyOf(expression)
    if (safe.has(key)) continue
    const verdict = remembered.has(key) ? 'safe' : isHarmless(expression) ? 'harmless' : await judge(expression)
    if (verdict === 'safe') safe.add(key)
    else if (verdict !== 'harmless')
      wrong.push(`${expression.path}:${expression.line}: /${expression.source}/${expression.flags}: ${verdict}`)
  }
  expect(wrong).toEqual([])
  if (isAnew) writeFileSync(VERDICTS, `${JSON.stringify([...safe].sort(), undefined, 2)}\n`)
})

const isHarmless = ({ path, source }: Expression): boolean => HARMLESS.some((one) => one.path === path && one.source === source)

test('what is put together when the program runs is in one of the lists', () => {
  const paths = [...new Set(all.composed.map(({ path }) => path))].sort()
  expect(paths).toEqual([...Object.keys(BUILT), ...Object.keys(OF_USERS)].sort())
})

test('the list of what is harmless names only what is there', () => {
  const gone = HARMLESS.filter(({ path, source }) => !all.literals.some((one) => one.path === path && one.source === source))
  expect(gone).toEqual([])
})

test.each([
  [String.raw`/\?.*pretty/.test(url)`],
  [String.raw`/^[+-]?(\d+\.?\d*|\.\d+)$/.test(value)`],
  [String.raw`/\s+$/.test(value)`],
  ["new RegExp('^(a|a)*$').test(value)"],
])('%s is found', async (text) => {
  const { literals } = expressionsIn([parse('src/http/x.ts', text)])
  expect(await Promise.all(literals.map(judge))).toEqual([expect.stringMatching(/^vulnerable/)])
})
