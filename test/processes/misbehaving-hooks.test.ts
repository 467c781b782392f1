import { describe, expect, test } from 'vitest'
import { type HookPlan, startServer } from '../support/process.ts'

/**
 * User code that misbehaves in a real process: it costs its timeout and the exit code 4, and
 * nobody's request.
 */

const PROMPT_MS = 10_000
const DEADLINE = '40s'
const KINDS = ['pre-shutdown', 'destroy'] as const

/**
 * Stops a server with these hooks while a request is under way, and requires that the request is
 * answered.
 */
async function stopped(...hooks: readonly HookPlan[]) {
  const program = startServer({ options: { deadline: DEADLINE }, hooks })
  const client = await program.requested('GET', '/under-way?ms=200')
  const toldAt = program.signal('SIGTERM')
  expect(await client.response()).toMatchObject({ body: 'done', headers: { connection: 'close' } })
  const { code, at } = await program.ended()
  const report = program.report()
  expect(report.exitCode).toBe(code)
  return { program, code, ms: at - toldAt, report }
}

describe.each(KINDS)('a %s hook', (kind) => {
  const next: HookPlan = { kind, name: 'next', does: 'ends' }

  test('that never answers costs its timeout', async () => {
    const { program, code, ms, report } = await stopped({ kind, name: 'stuck', does: 'hangs', timeout: '700ms' }, next)
    expect(code).toBe(4)
    expect(ms).toBeGreaterThan(690)
    expect(ms).toBeLessThan(PROMPT_MS)
    expect(program.lines).toContain('ended next')
    const error = { code: 'ERR_TIMEOUT', message: `${kind} hook "stuck" did not end within 700ms` }
    expect(report.hooks).toMatchObject([
      { kind, name: 'stuck', outcome: 'failed', error },
      { kind, name: 'next', outcome: 'ok' },
    ])
    expect(report.hooks[0]?.durationMs).toBeGreaterThan(690)
    expect(report.errors).toMatchObject([{ where: `${kind} hook "stuck"`, error }])
    expect(report.lateAnswers).toEqual([])
  })

  test.each([
    ['throws', 'thrown on purpose'],
    ['rejects', 'rejected on purpose'],
  ] as const)('that %s is reported, and the others run', async (does, message) => {
    const { program, code, report } = await stopped({ kind, name: 'broken', does }, next)
    expect(code).toBe(4)
    expect(program.lines).toContain('ended next')
    expect(report.hooks).toMatchObject([
      { kind, name: 'broken', outcome: 'failed', error: { message } },
      { kind, name: 'next', outcome: 'ok' },
    ])
    expect(report.errors).toMatchObject([{ where: `${kind} hook "broken"`, error: { message } }])
  })

  test.each([
    ['ends', { answer: 'resolved' }],
    ['rejects', { answer: 'rejected', error: { message: 'rejected on purpose' } }],
  ] as const)('that %s after its time is over changes nothing but the list of late answers', async (does, answer) => {
    const { program, code, report } = await stopped(
      { kind, name: 'slow', does, ms: 600, timeout: '300ms' },
      { kind, name: 'next', does: 'ends', ms: 900 },
    )
    expect(code).toBe(4)
    expect(program.lines).toContain('ended next')
    expect(report.hooks).toMatchObject([
      { name: 'slow', outcome: 'failed', error: { code: 'ERR_TIMEOUT' } },
      { name: 'next', outcome: 'ok' },
    ])
    expect(report.lateAnswers).toMatchObject([{ what: `${kind} hook "slow"`, ...answer }])
    expect(report.lateAnswers[0]?.lateMs).toBeGreaterThan(0)
  })
})

test.each(['throws', 'rejects'] as const)('a post-start hook that %s is an orderly stop with that reason', async (does) => {
  const program = startServer({
    options: { deadline: DEADLINE },
    hooks: [
      { kind: 'post-start', name: 'warm-cache', does, ms: 500 },
      { kind: 'pre-shutdown', name: 'leave', does: 'ends' },
      { kind: 'destroy', name: 'pool', does: 'ends' },
    ],
  })
  // One that throws at once leaves no time for a request.
  const client = does === 'rejects' ? await program.requested('GET', '/under-way?ms=1000') : undefined
  if (client) expect(await client.response()).toMatchObject({ body: 'done', headers: { connection: 'close' } })
  expect((await program.ended()).code).toBe(4)
  expect(program.lines).toEqual(expect.arrayContaining(['ended leave', 'ended pool', 'resolved 4']))
  expect(program.report()).toMatchObject({
    exitCode: 4,
    forced: null,
    reason: { kind: 'hook-failed', hook: 'warm-cache' },
    hooks: [
      { kind: 'post-start', name: 'warm-cache', outcome: 'failed' },
      { name: 'leave', outcome: 'ok' },
      { name: 'pool', outcome: 'ok' },
    ],
  })
})
