import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type ServerPlan, startServer, type TestProcess } from '../support/process.ts'
import { row } from '../support/row.ts'

/**
 * What stops a process, and what does not: OS signals as a shell, a terminal and a container send
 * them, and the IPC channel.
 */

const PROMPT_MS = 10_000
const DEADLINE = '40s'

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s ends a process in order', async (signal) => {
  const program = startServer({ options: { deadline: DEADLINE } })
  const client = await program.requested('GET', '/under-way?ms=200')
  program.signal(signal)
  expect(await client.response()).toMatchObject({ body: 'done' })
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  expect(program.report()).toMatchObject({ exitCode: 0, reason: { kind: 'os-signal', signal } })
})

test('the IPC message "shutdown" ends a process in order, and an open channel does not keep it', async () => {
  const program = startServer({ options: { deadline: DEADLINE } }, { ipc: true })
  const client = await program.requested('GET', '/under-way?ms=200')
  program.child.send('something else')
  program.child.send('shutdown')
  expect(await client.response()).toMatchObject({ body: 'done' })
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  expect(program.report()).toMatchObject({ exitCode: 0, reason: { kind: 'ipc' } })
  expect(program.stderr).not.toContain('still alive')
})

test('SIGINT twice at once, as a forwarding parent delivers Ctrl-C, counts as one', async () => {
  const program = startServer({ options: { deadline: DEADLINE }, repeatsSignal: 'SIGINT' })
  const client = await program.requested('GET', '/under-way?ms=1500')
  program.signal('SIGINT')
  expect(await client.response()).toMatchObject({ body: 'done', headers: { connection: 'close' } })
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  expect(program.lines.filter((line) => line === 'heard SIGINT')).toHaveLength(2)
  expect(program.report()).toMatchObject({ forced: null, requests: { before: 1, after: 0 } })
})

describe('a second signal', () => {
  const stuck: ServerPlan = {
    options: { deadline: DEADLINE, hookTimeout: DEADLINE, watchGrace: '10s' },
    hold: 'import',
    hooks: [{ kind: 'pre-shutdown', name: 'leave', does: 'hangs' }],
  }

  row('PG-02', 'ends the process at once, with 1, and the report names what was stuck', async () => {
    const program = startServer(stuck)
    const request = await program.requested('GET', '/hang')
    const watch = await program.requested('GET', '/stubborn-watch')
    program.signal('SIGTERM')
    await program.said('600 ms after the stop request')
    const forcedAt = program.signal('SIGINT')
    expect(await request.closed()).not.toBe('open')
    expect(await watch.closed()).not.toBe('open')
    const { code, at } = await program.ended()
    expect(code).toBe(1)
    expect(at - forcedAt).toBeLessThan(PROMPT_MS)

    const report = program.report()
    expect(report).toMatchObject({
      exitCode: 1,
      forced: 'second-signal',
      reason: { kind: 'os-signal', signal: 'SIGTERM' },
      requests: { before: 2, after: 2 },
      watches: { before: 1, after: 1, cut: [{ name: 'GET /stubborn-watch' }] },
      hooks: [{ name: 'leave', outcome: null }],
      handlers: [{ name: 'GET /hang' }],
    })
    expect(report.requests.cut.map(({ name }) => name).sort()).toEqual(['GET /hang', 'import'])
    expect(report.phases.find(({ name }) => name === 'pre-shutdown-hooks')).toMatchObject({ end: null })
    expect(program.log).toContainEqual(expect.objectContaining({ msg: 'ending by force', why: 'second-signal' }))
  })

  test('overrules whatever else keeps the process', async () => {
    const program = startServer({ ...stuck, staysAliveMs: 60_000, exitCode: 7 })
    await program.serving()
    program.signal('SIGTERM')
    await program.said('600 ms after the stop request')
    const forcedAt = program.signal('SIGTERM')
    const { code, at } = await program.ended()
    expect(code).toBe(1)
    expect(at - forcedAt).toBeLessThan(PROMPT_MS)
  })
})

describe('as process 1 of a container', () => {
  /** A PID namespace needs privileges that not every machine gives its tests. */
  const whyNot = ((): string | undefined => {
    try {
      execFileSync('unshare', ['--fork', '--pid', 'true'], { stdio: 'pipe' })
      return undefined
    } catch (error) {
      return `no PID namespace here: ${String((error as Error).message)
        .trim()
        .replaceAll('\n', ' ')}`
    }
  })()

  /**
   * The node process, as seen from outside its namespace: `unshare` itself passes no signals on.
   */
  const insideOf = ({ child: { pid } }: TestProcess): number => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  const container = (plan: ServerPlan): TestProcess => startServer(plan, { via: ['unshare', '--fork', '--pid', '--kill-child'] })

  test('a process ends in order, and does not stay', async ({ skip }) => {
    if (whyNot !== undefined) skip(whyNot)
    const program = container({ options: { platform: 'auto' }, staysAliveMs: 60_000 })
    const client = await program.requested('GET', '/under-way?ms=200')
    const toldAt = performance.now()
    process.kill(insideOf(program), 'SIGTERM')
    expect(await client.response()).toMatchObject({ body: 'done' })
    const { code, at } = await program.ended()
    expect(code).toBe(0)
    expect(at - toldAt).toBeLessThan(PROMPT_MS)
    expect(program.stderr).toContain('quiesce: ended, but still alive')
    expect(program.report()).toMatchObject({ exitCode: 0, platform: { name: 'container' } })
  })

  test('a second signal ends it by force', async ({ skip }) => {
    if (whyNot !== undefined) skip(whyNot)
    const program = container({ options: { deadline: DEADLINE } })
    await program.requested('GET', '/hang')
    process.kill(insideOf(program), 'SIGTERM')
    await program.said('600 ms after the stop request')
    process.kill(insideOf(program), 'SIGTERM')
    expect((await program.ended()).code).toBe(1)
    expect(program.report()).toMatchObject({ forced: 'second-signal', requests: { cut: [{ name: 'GET /hang' }] } })
  })
})

describe('chosen signals', () => {
  test('SIGUSR2 ends a process in order, and SIGHUP kills one that does not listen to it', async () => {
    const signals = { add: ['SIGUSR2'], skip: ['SIGHUP'] } as const
    const program = startServer({ options: { deadline: DEADLINE, signals } })
    const client = await program.requested('GET', '/under-way?ms=200')
    program.signal('SIGUSR2')
    expect(await client.response()).toMatchObject({ body: 'done' })
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    expect(program.report()).toMatchObject({ exitCode: 0, reason: { kind: 'os-signal', signal: 'SIGUSR2' } })

    const other = startServer({ options: { deadline: DEADLINE, signals } })
    await other.serving()
    other.signal('SIGHUP')
    expect(await other.ended()).toMatchObject({ code: null, signal: 'SIGHUP' })
  })
})
