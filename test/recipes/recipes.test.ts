// One suite over every recipe, as a process and from outside. Fails when: a recipe is not healthy,
// a slow request is not answered over SIGTERM, a client on a kept connection is not told to leave
// or loses a request, an idle connection is broken off, a watch does not end cleanly, the end is
// not graceful, or a recipe takes more than ten lines of ours.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { TestProcess, temporaryFolder } from '../support/process.ts'
import { type Connection, connectionTo, ELSEWHERE, watches } from './clients.ts'
import { RECIPES, type Recipe } from './recipes.ts'

const PROGRAMS = fileURLToPath(new URL('programs/', import.meta.url))

async function serving({ program, env }: Recipe): Promise<{ program: TestProcess; url: string }> {
  const reportFile = join(temporaryFolder(), 'report.json')
  const given = { SHUTDOWN_DELAY: '300ms', REPORT_FILE: reportFile, ...env }
  const started = new TestProcess([process.execPath, join(PROGRAMS, `${program}.mjs`)], { env: given }, reportFile)
  for (;;) {
    // Next.js speaks between the lines of the log.
    const [, url] = /"msg":"Serving on ([^"]+)"/.exec(started.stdout) ?? []
    if (url !== undefined) return { program: started, url }
    if (started.child.exitCode !== null) throw new Error(`it ended without serving:\n${started.stderr}`)
    await started.next()
  }
}

/** Of a page that says hello, only that. */
const inShort = (answer: string): string => answer.replace(/^(200 )<!DOCTYPE html>.*(hello).*$/s, '$1$2')

/** Asks again and again until it is told to leave: every answer, once. @param first one before */
async function untilTold(connection: Connection, first: string): Promise<string[]> {
  const answers = new Set([inShort(first)])
  while (!connection.isNotified) {
    const answer = await connection.ask('/')
    if (answer !== ELSEWHERE) answers.add(inShort(answer))
    if (!answer.startsWith('200 ')) break
  }
  return [...answers]
}

/** The error of connecting, once it says that it listens no more; undefined without one. */
async function refusal(program: TestProcess, recipe: Recipe, url: string): Promise<string | undefined> {
  while (!program.stdout.includes('"msg":"Stopped listening on ')) {
    if (program.child.exitCode !== null) throw new Error(`it ended and has not said that it stopped:\n${program.stderr}`)
    await program.next()
  }
  try {
    await connectionTo(url, recipe.wire)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

/** Everything that its clients see of its end, and what it says of it. */
async function endOf(recipe: Recipe) {
  const { program, url } = await serving(recipe)
  const open = (): Promise<Connection> => connectionTo(url, recipe.wire)
  const [idle, busy, slow] = await Promise.all([open(), open(), open()])
  const health = [await idle.ask('/livez'), await idle.ask('/readyz')]
  const watched = await Promise.all(recipe.watches.map((kind) => watches[kind](url, recipe.wire)))
  const slowAnswer = slow.ask('/slow')
  await program.said('arrived')
  const answers = untilTold(busy, await busy.ask('/'))
  program.signal('SIGTERM')
  const refused = await refusal(program, recipe, url)
  program.signal('SIGUSR2')
  const seen = {
    health,
    answers: await answers,
    slow: await slowAnswer,
    ends: [await idle.ended, await busy.ended, await slow.ended],
    refused,
    watches: await Promise.all(watched.map(({ ended }) => ended)),
    ...(await program.ended()),
  }
  const { exitCode, requests, watches: ofReport, connections, errors } = program.report()
  const report = { exitCode, requests: requests.after, cut: [...requests.cut, ...ofReport.cut], forced: connections.forced, errors }
  return { seen: { ...seen, at: 0, report }, expected: watched.map((watch) => watch.expected) }
}

describe.each(Object.entries(RECIPES))('%s', (_, recipes) => {
  test(recipes.map(({ name }) => name).join('; '), async () => {
    const ends = await Promise.all(recipes.map(endOf))
    const seen = recipes.map(({ name }, index) => ({ name, ...ends[index]?.seen }))
    expect(seen).toEqual(
      recipes.map(({ name }, index) => ({
        name,
        health: ['200 ok', '200 ok'],
        answers: ['200 hello'],
        slow: '200 done',
        ends: ['ended', 'ended', 'ended'],
        refused: 'ECONNREFUSED',
        watches: ends[index]?.expected,
        code: 0,
        signal: null,
        at: 0,
        report: { exitCode: 0, requests: 0, cut: [], forced: 0, errors: [] },
      })),
    )
  })
})

const LINES_MAX = 10

/** Lines that a program has because of quiesce: its imports, and where their names stand. */
function linesOfOurs(text: string): number {
  const names = Array.from(
    text.matchAll(/^import (.+) from '(?:\.\.\/)+dist\/\w+\.js'$/gm),
    ([, names = '']) => names.match(/\w+/g) ?? [],
  ).flat()
  const ours = new RegExp(`\\b(${[...names, 'life', 'options'].join('|')})\\b`)
  return text.split('\n').filter((line) => !line.startsWith('//') && ours.test(line)).length
}

test('none takes more than ten lines of ours', () => {
  const programs = readdirSync(PROGRAMS).filter((name) => name !== 'options.mjs')
  const lines = programs.map((name) => [name, linesOfOurs(readFileSync(join(PROGRAMS, name), 'utf8'))] as const)
  expect(programs.length).toBeGreaterThan(10)
  expect(lines.filter(([, count]) => count > LINES_MAX)).toEqual([])
  // It counts.
  expect(Object.fromEntries(lines)).toMatchObject({ 'express.mjs': 4 })
})
