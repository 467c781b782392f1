// A real server process, systemd's own tool, and a socket as systemd's. Fails when: systemd is not
// told that the server is ready, what it does, that it stops and that it still comes further; the
// watchdog is fed although the event loop does not turn; a worker of a cluster passes for the
// service, or its end for that of the service; a signal to the whole service silences the end; a
// process is left behind; or what cannot be told is said more than once, or ends anything.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ServerPlan, startServer, startSpeaking, temporaryFolder } from '../support/process.ts'

const WAIT = { timeout: 20_000, interval: 20 }
const has = (tool: string, argument: string): boolean => spawnSync(tool, [argument]).status === 0
// Where systemd's tool or Python is missing these tests say that they were skipped.
const canRun = has('systemd-notify', '--version') && has('python3', '--version')

interface Message {
  readonly pid: number
  readonly fields: Readonly<Record<string, string>>
  readonly at: number
}

async function manager() {
  const path = join(temporaryFolder(), 'notify')
  const child = spawn('python3', [fileURLToPath(new URL('notify-socket.py', import.meta.url)), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const messages: Message[] = []
  const lines = createInterface({ input: child.stdout })
  await once(lines, 'line')
  lines.on('line', (line) => messages.push({ ...(JSON.parse(line) as Message), at: performance.now() }))
  const all = (field: string): string[] => messages.flatMap(({ fields }) => fields[field] ?? [])
  return { path, messages, all }
}

async function serviceOf(plan: ServerPlan = {}, env: Record<string, string> = {}) {
  const systemd = await manager()
  const program = startServer(plan, { env: { NOTIFY_SOCKET: systemd.path, ...env } })
  return { systemd, program }
}

describe.skipIf(!canRun)('a service of systemd', () => {
  test('says that it is ready, where it serves, that it stops, and how it has ended', async () => {
    const { systemd, program } = await serviceOf()
    const port = await program.serving()
    await expect.poll(() => systemd.all('READY'), WAIT).toEqual(['1'])
    await expect.poll(() => systemd.all('STATUS'), WAIT).toEqual([`serving on http://127.0.0.1:${port}`])
    const hanging = await program.requested('GET', '/under-way?ms=400')
    expect(systemd.all('STOPPING')).toEqual([])
    program.signal('SIGTERM')
    await expect.poll(() => systemd.all('STOPPING'), WAIT).toEqual(['1'])
    expect(Number(systemd.all('EXTEND_TIMEOUT_USEC')[0])).toBeGreaterThanOrEqual(10_000_000)
    expect(await hanging.response()).toMatchObject({ body: 'done' })
    expect((await program.ended()).code).toBe(0)
    await expect.poll(() => systemd.all('STATUS').at(-1), WAIT).toBe('ended with exit code 0')
    // The manager takes messages of the main process only, unless NotifyAccess= says more. In the
    // name of a process that is gone none can be sent.
    const whileAlive = systemd.messages.filter(({ fields }) => fields['READY'] ?? fields['STOPPING'])
    if (process.getuid?.() === 0) expect(new Set(whileAlive.map(({ pid }) => pid))).toEqual(new Set([program.child.pid]))
  })

  test('asks for more time as long as its end comes further, and says what it waits for', async () => {
    const { systemd, program } = await serviceOf({ options: { deadline: '60s' } })
    await program.requested('GET', '/hang')
    program.signal('SIGTERM')
    await expect.poll(() => systemd.all('EXTEND_TIMEOUT_USEC').length, WAIT).toBeGreaterThan(1)
    await expect.poll(() => systemd.all('STATUS').at(-1), WAIT).toMatch(/^stopping: GET \/hang blocks the exit/)
  })

  test('hears of its end although every process of it gets the signal', async () => {
    const { systemd, program } = await serviceOf()
    await program.serving()
    await expect.poll(() => systemd.all('READY'), WAIT).toEqual(['1'])
    const children = spawnSync('pgrep', ['-P', String(program.child.pid)], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter(Boolean)
      .map(Number)
    expect(children).toHaveLength(1)
    for (const pid of [...children, program.child.pid as number]) process.kill(pid, 'SIGTERM')
    expect((await program.ended()).code).toBe(0)
    await expect.poll(() => systemd.all('STATUS').at(-1), WAIT).toBe('ended with exit code 0')
    // And leaves none behind.
    await expect.poll(() => children.filter(isRunning), WAIT).toEqual([])
  })

  test('says how it has ended although what it said before is still on its way', async () => {
    // The tool, later than the process ends.
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'systemd-notify'), '#!/bin/sh\nsleep 0.5\nPATH=$REAL_PATH exec systemd-notify "$@"\n', { mode: 0o755 })
    const path = process.env['PATH'] ?? ''
    const { systemd, program } = await serviceOf({}, { PATH: `${folder}:${path}`, REAL_PATH: path })
    await program.serving()
    await expect.poll(() => systemd.all('STATUS').length, WAIT).toBe(1)
    program.signal('SIGTERM')
    expect((await program.ended()).code).toBe(0)
    await expect.poll(() => systemd.all('STATUS').slice(1), WAIT).toEqual(['stopping', 'ended with exit code 0'])
  })

  test('feeds the watchdog at half its time, and not while the event loop is blocked', async () => {
    const { systemd, program } = await serviceOf({}, { WATCHDOG_USEC: '400000' })
    const client = await program.connect()
    await expect.poll(() => systemd.all('WATCHDOG').length, WAIT).toBeGreaterThan(2)
    client.request('GET', '/block?ms=1500')
    await client.response()
    const fed = systemd.all('WATCHDOG').length
    await expect.poll(() => systemd.all('WATCHDOG').length, WAIT).toBeGreaterThan(fed)
    const times = systemd.messages.flatMap(({ fields, at }) => (fields['WATCHDOG'] ? [at] : []))
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0))
    // Less than it was blocked: what was sent just before may have taken its time.
    expect(Math.max(...gaps)).toBeGreaterThan(1_000)
  })

  test('is the primary of a cluster, whose workers are replaced without its end', async () => {
    const systemd = await manager()
    const env = { NOTIFY_SOCKET: systemd.path, REPORT_FILE: join(temporaryFolder(), 'report.json') }
    const program = startSpeaking('cluster-primary.mjs', [], { env })
    // The primary's, and one of each worker.
    await expect.poll(() => systemd.all('READY').length, WAIT).toBe(3)
    program.signal('SIGUSR2')
    await program.said('replaced')
    await expect.poll(() => systemd.all('READY').length, WAIT).toBe(5)
    expect(systemd.all('STOPPING')).toEqual([])
    program.signal('SIGTERM')
    expect((await program.ended()).code).toBe(0)
    await expect.poll(() => systemd.all('STATUS').at(-1), WAIT).toBe('ended with exit code 0')
    expect(systemd.all('STOPPING')).toEqual(['1'])
    expect(new Set(systemd.all('MAINPID'))).toEqual(new Set([String(program.child.pid)]))
  })

  test('feeds no watchdog of another process', async () => {
    const { systemd, program } = await serviceOf({}, { WATCHDOG_USEC: '100000', WATCHDOG_PID: '1' })
    await program.serving()
    await expect.poll(() => systemd.all('READY'), WAIT).toEqual(['1'])
    program.signal('SIGTERM')
    await program.ended()
    expect(systemd.all('WATCHDOG')).toEqual([])
  })
})

test('what cannot be told to systemd is an error of the announcement and one warning, and ends nothing', async () => {
  const program = startServer({}, { env: { NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '100000' } })
  const client = await program.connect()
  const told = (): string[] => program.log.map(({ msg }) => msg).filter((msg) => msg.includes('systemd could not be notified'))
  await expect.poll(told, WAIT).toHaveLength(1)
  expect(await client.ask('GET', '/hello')).toMatchObject({ body: 'hello' })
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(told()).toHaveLength(1)
})

/** One that has ended is there until its parent takes notice. */
function isRunning(pid: number): boolean {
  try {
    return /^State:\s+[^Z]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
