// Workers of a cluster, from outside: what becomes of them when their primary dies, or ends them in
// order (docs/cluster.md). Fails when: a request under way is lost with the primary, a worker ends
// without its report or not with 0, the lost channel counts as a crash, a primary that is a life of
// its own loses a request or does not wait for its workers, or a process that was forked without a
// cluster ends because its parent has disconnected.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Report } from '#src/index.ts'
import { startSpeaking, type TestProcess, temporaryFolder } from '../support/process.ts'

const WORKERS = ['1', '2']

const saidTimes = (program: TestProcess, beginning: string): string[] => program.lines.filter((line) => line.startsWith(beginning))

/** Two workers with six requests that are under way. */
async function underWay() {
  const base = join(temporaryFolder(), 'report.json')
  const program = startSpeaking('cluster-orphans.mjs', [], { env: { REPORT_FILE: base } })
  while (saidTimes(program, 'worker ').length < WORKERS.length) await program.next()
  const pids = saidTimes(program, 'worker ').map((line) => Number(line.slice('worker '.length)))
  // Nobody else is left to end them.
  onTestFinished(() => {
    for (const pid of pids) endForSure(pid)
  })
  const clients = await Promise.all(Array.from({ length: 6 }, () => program.connect()))
  for (const client of clients) client.request('GET', '/slow')
  while (saidTimes(program, 'slow').length < clients.length) await program.next()
  const leftBy = (id: string) => ({
    exitCode: readFileSync(`${base}.${id}.exit`, 'utf8'),
    report: JSON.parse(readFileSync(`${base}.${id}`, 'utf8')) as Report,
  })
  return { program, pids, clients, leftBy }
}

function endForSure(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

test.each([
  { how: 'is killed', signal: 'SIGKILL', isGroup: false, reasons: ['disconnected'] },
  // Signal and end of the channel arrive together.
  { how: 'dies of the SIGTERM of the whole group', signal: 'SIGTERM', isGroup: true, reasons: ['os-signal', 'disconnected'] },
] as const)('when the primary $how, its workers answer what is under way and end in order', async ({ signal, isGroup, reasons }) => {
  const { program, pids, clients, leftBy } = await underWay()
  if (isGroup) for (const pid of pids) process.kill(pid, signal)
  program.signal(signal)
  const answers = await Promise.all(clients.map((client) => client.response()))
  expect(answers.map(({ body }) => body)).toEqual(clients.map(() => 'whole'))
  // The streams end with the last of those that hold them: the workers.
  await program.ended()
  const left = WORKERS.map(leftBy)
  for (const { exitCode, report } of left) {
    expect(exitCode).toBe('0')
    expect(report).toMatchObject({ exitCode: 0, forced: null, requests: { after: 0 }, errors: [] })
    expect(reasons).toContain(report.reason?.kind)
  }
  // Which of them had how many is the operating system's choice.
  expect(left.reduce((sum, { report }) => sum + report.requests.before, 0)).toBe(clients.length)
})

test('a process that was forked without a cluster goes on when its parent disconnects', async () => {
  const program = startSpeaking('run.mjs', [], { ipc: true })
  const client = await program.connect()
  program.child.disconnect()
  expect(await client.ask('GET', '/')).toMatchObject({ body: 'hello' })
  expect(program.lines).not.toContain('StopRequested')
  const exited = once(program.child, 'exit')
  program.signal('SIGTERM')
  expect(await exited).toEqual([0, null])
})

describe('a primary that is a life of its own', () => {
  async function primary() {
    const base = join(temporaryFolder(), 'report.json')
    const program = startSpeaking('cluster-primary.mjs', [], { env: { REPORT_FILE: base } })
    while (saidTimes(program, 'worker ').length < WORKERS.length) await program.next()
    const reportOf = (id?: string) => JSON.parse(readFileSync(id === undefined ? base : `${base}.${id}`, 'utf8')) as Report
    return { program, reportOf }
  }

  test('ends its workers in order and waits for them', async () => {
    const { program, reportOf } = await primary()
    const clients = await Promise.all(Array.from({ length: 6 }, () => program.connect()))
    for (const client of clients) client.request('GET', '/slow')
    while (saidTimes(program, 'slow').length < clients.length) await program.next()
    program.signal('SIGTERM')
    const answers = await Promise.all(clients.map((client) => client.response()))
    expect(answers.map(({ body }) => body)).toEqual(clients.map(() => 'whole'))
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    for (const id of WORKERS) expect(reportOf(id)).toMatchObject({ exitCode: 0, reason: { kind: 'ipc' }, requests: { after: 0 } })
    expect(reportOf()).toMatchObject({ exitCode: 0, hooks: [{ name: 'workers', outcome: 'ok' }] })
  })

  test('replaces its workers one after the other while the rest serves', async () => {
    const { program, reportOf } = await primary()
    program.signal('SIGUSR2')
    const replaced = program.said('replaced')
    let isReplaced = false
    void replaced.then(() => {
      isReplaced = true
    })
    const bodies = new Set<string>()
    while (!isReplaced) {
      const client = await program.connect()
      bodies.add((await client.ask('GET', '/')).body)
      client.abort()
    }
    expect([...bodies]).toEqual(['hello'])
    for (const id of WORKERS) expect(reportOf(id)).toMatchObject({ exitCode: 0, reason: { kind: 'ipc' } })
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    for (const id of ['3', '4']) expect(reportOf(id)).toMatchObject({ exitCode: 0, reason: { kind: 'ipc' } })
  })
})
