// What goes wrong at the start and while running, and what is left of it then (the ER rows;
// upstream's pkg/server/genericapiserver.go). Fails when: something that was acquired is not
// released, or twice; something that was not is; a failure has no name or no code; or a life that
// cannot begin, or was ended before it could, holds its caller or its process.
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { VirtualClock } from '#src/base/virtual-clock.ts'
import { attachLifecycle } from '#src/index.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import { aborted, NotedAudit, never, newAttachedLife, newLife, refusal } from '../support/life.ts'
import { startSpeaking, type TestProcess } from '../support/process.ts'
import { row } from '../support/row.ts'
import { fresh, POLL, REFUSED } from '../support/upstream-client.ts'
import { Roadblock } from '../support/upstream-server.ts'

/** A foreign server, listening, with its port. */
async function occupied(): Promise<{ readonly server: Server; readonly port: number }> {
  const server = createServer((_, response) => void response.end('theirs'))
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

const listener = (port: number) => ({ port, host: '127.0.0.1' })

describe('a start that fails', () => {
  row('ER-01', 'in the audit backend serves no request, runs no hook, destroys once, and says what upstream says (V12)', async () => {
    const called: string[] = []
    const audit = new NotedAudit({ run: () => Promise.reject(new Error('E')) })
    const t = newLife({ options: { audit } })
    t.life.addPostStartHook('warm', () => void called.push('warm'))
    t.life.addPreShutdownHook('leave', () => void called.push('leave'))
    t.life.addDestroy('pool', () => void called.push('pool'))
    await expect(t.life.start()).rejects.toMatchObject({
      code: 'ERR_START',
      message: 'could not start: audit-run: failed to run the audit backend: E',
      details: { phase: 'audit-run' },
      cause: { message: 'failed to run the audit backend: E' },
    })
    expect(called).toEqual(['pool'])
    expect(audit.calls).toEqual(['run'])
    expect(t.life.addresses).toEqual([])
    expect(t.signals).not.toContain('Bound')
    const report = await t.end()
    expect(report).toMatchObject({
      exitCode: 3,
      reason: { kind: 'start-failed', phase: 'audit-run', error: { message: 'failed to run the audit backend: E' } },
      listeners: [],
    })
  })

  row(
    ['ER-02', 'ER-06'],
    'because there is nothing to serve is an error as soon as nothing can call listen() any more; the audit backend is shut down (V9)',
    async () => {
      const audit = new NotedAudit()
      const called: string[] = []
      const t = newAttachedLife(createServer(), { clock: new VirtualClock(), options: { audit } })
      t.life.addPostStartHook('warm', () => void called.push('warm'))
      t.life.addDestroy('pool', () => void called.push('pool'))
      const started = t.life.start()
      started.catch(() => undefined)
      await t.clock.advance(9_999)
      expect(audit.calls).toEqual(['run'])
      expect(t.logged('warn')).toEqual([])
      await t.clock.advance(1)
      expect(t.logged('warn')).toEqual(['the attached server does not listen yet: start-up waits for its listen()'])
      await t.clock.advance(24 * 60 * 60_000)
      expect(t.hasFired('StopRequested')).toBe(false)
      t.process.emit('beforeExit', 0)
      const report = await t.end(t.life.ended)
      await expect(started).rejects.toMatchObject({
        code: 'ERR_START',
        message: 'could not start: bind: the attached server does not listen: call its listen()',
      })
      expect(audit.calls).toEqual(['run', 'shutdown'])
      expect(called).toEqual(['pool'])
      expect(report).toMatchObject({
        exitCode: 3,
        reason: { kind: 'start-failed', phase: 'bind', error: { code: 'ERR_NOTHING_TO_SERVE' } },
      })
    },
  )

  test('but not because the owner of the server calls listen() late: it is served, and ends like every other', async () => {
    const server = createServer((_request, response) => response.end('late'))
    const t = newAttachedLife(server, { clock: new VirtualClock() })
    const started = t.life.start()
    await t.clock.advance(60 * 60_000)
    server.listen(0, '127.0.0.1')
    await started
    expect((await t.get('/')).body).toBe('late')
    expect(t.process.listenerCount('beforeExit')).toBe(0)
    expect(await t.end()).toMatchObject({ exitCode: 0, warnings: [{ message: expect.stringContaining('does not listen yet') }] })
  })

  test('a stop before listen() is no mistake of the owner', async () => {
    const t = newAttachedLife(createServer())
    const started = t.life.start()
    started.catch(() => undefined)
    await t.fired('AuditRunning')
    expect(await t.end()).toMatchObject({ exitCode: 0, errors: [] })
    await expect(started).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
  })

  row('ER-06', 'because there is nothing to serve is seen at once where it can be: an empty list of listeners is no option (V9)', () => {
    expect(refusal(() => newLife({ options: { listeners: [], port: undefined, host: undefined } }))).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      details: { field: 'listeners' },
    })
  })

  row('ER-03', 'because the port is taken says so in upstream`s words, with the address, and touches no other server', async () => {
    const theirs = await occupied()
    const audit = new NotedAudit()
    const called: string[] = []
    const t = newLife({ options: { audit, port: theirs.port } })
    t.life.addPostStartHook('warm', () => void called.push('warm'))
    const text = `failed to create listener: failed to listen on 127.0.0.1:${theirs.port}: listen EADDRINUSE: address already in use 127.0.0.1:${theirs.port}`
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_START', message: `could not start: bind: ${text}` })
    expect((await t.end()).reason).toMatchObject({ kind: 'start-failed', phase: 'bind', error: { code: 'ERR_LISTEN', message: text } })
    expect(audit.calls).toEqual(['run', 'shutdown'])
    expect(called).toEqual([])
    expect((await fresh(theirs.port, '/')).body).toBe('theirs')
  })

  test('names the option that the port of this listener comes from', async () => {
    const theirs = await occupied()
    const own = { port: theirs.port, host: '127.0.0.1' }
    const attached = (options: object) =>
      newAttachedLife(
        createServer().listen(0, '127.0.0.1', () => undefined),
        { options },
      )
    for (const [make, named] of [
      [() => newLife({ options: own }), 'the option port'],
      [() => newLife({ options: { port: undefined, host: undefined, listeners: [listener(0), own] } }), 'the option listeners[1].port'],
      [() => newLife({ options: { admin: own } }), 'the option admin.port'],
      [() => newLife({ options: { inspector: own } }), 'the option inspector.port'],
      [() => attached({ admin: own }), 'the option admin.port'],
      [() => attached({ inspector: own }), 'the option inspector.port'],
      [() => newAttachedLife(createServer().listen(own.port, own.host)), 'where it calls listen()'],
    ] as const) {
      const t = make()
      expect((await t.end(t.life.run())).exitCode).toBe(3)
      expect(t.process.stderrText).toContain(`has port ${theirs.port}: give another one (${named})`)
    }
  })

  test.runIf(process.platform === 'linux')('asks for another path where no Unix socket can be made', async () => {
    const t = newLife({ options: { port: undefined, host: undefined, listeners: [{ path: '/proc/quiesce.sock' }] } })
    expect((await t.end(t.life.run())).exitCode).toBe(3)
    expect(t.process.stderrText).toContain('give a path in a folder that it may write to (the option listeners[0].path)')
  })

  test('at the second of two listeners closes the first again, and releases in reverse', async () => {
    const theirs = await occupied()
    const called: string[] = []
    const t = newLife({ options: { port: undefined, host: undefined, listeners: [listener(0), listener(theirs.port)] } })
    for (const name of ['first', 'second']) t.life.addDestroy(name, () => void called.push(name))
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_START', cause: { code: 'ERR_LISTEN' } })
    const [{ port } = { port: 0 }] = t.life.addresses
    expect(port).toBeGreaterThan(0)
    await expect(fresh(port, '/')).rejects.toEqual(REFUSED)
    expect(called).toEqual(['second', 'first'])
  })

  test('at the second of two listeners ends the process with 3, with the port in log and report', async () => {
    const theirs = await occupied()
    const program = startSpeaking('half-bound.mjs', [String(theirs.port)])
    expect(await program.ended()).toMatchObject({ code: 3, signal: null })
    expect(program.lines.filter((line) => line === 'destroyed')).toEqual(['destroyed'])
    const report = program.report()
    expect(report).toMatchObject({
      exitCode: 3,
      reason: {
        kind: 'start-failed',
        phase: 'bind',
        error: { code: 'ERR_LISTEN', message: expect.stringContaining(`127.0.0.1:${theirs.port}`) },
      },
      listeners: [{ admin: false }],
    })
    expect(program.log.map(({ msg }) => msg)).toContain(`Stopped listening on ${report.listeners[0]?.url}`)
    await expect(fetch(report.listeners[0]?.url ?? '')).rejects.toThrow('fetch failed')
    expect(program.log.map(({ msg }) => msg).join('\n')).not.toContain('waiting for shutdown')
    expect(program.lines.join('\n')).toContain(`failed to listen on 127.0.0.1:${theirs.port}: listen EADDRINUSE`)
    expect(program.stderr).toMatch(
      /^quiesce: exit code 3: could not start: bind: .*failed to listen on 127\.0\.0\.1:\d+: .*\nquiesce: .* has port \d+: give another one .*\n$/,
    )
  })

  test('is the rejection of start(), the report of run(), and no unhandled rejection when it is not awaited', async () => {
    const theirs = await occupied()
    const t = newLife({ options: { port: theirs.port } })
    const report = await t.end(t.life.run())
    expect(report.exitCode).toBe(3)
    expect(t.process.exitCode).toBe(3)
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_START', details: { report: { exitCode: 3 } } })
  })
})

describe('the listener', () => {
  row('ER-04', 'dying while no stop was asked for is an orderly stop with that reason, and exit code 4 (V12)', async () => {
    const program = startSpeaking('listener-that-dies.mjs')
    const port = Number((await program.said('Serving on')).split(':').at(-1))
    const answer = fetch(`http://127.0.0.1:${port}/`).then((response) => response.text())
    await program.said('slow')
    program.signal('SIGUSR2')
    expect(await answer).toBe('whole')
    expect(await program.ended()).toMatchObject({ code: 4, signal: null })
    expect(program.lines).toContain(`Stopped listening on http://127.0.0.1:${port} due to error: accept EINVAL`)
    expect(program.lines).toEqual(expect.arrayContaining(['hook', 'destroyed']))
    const report = program.report()
    expect(report).toMatchObject({
      exitCode: 4,
      reason: { kind: 'listener-died', address: `http://127.0.0.1:${port}`, error: { message: 'accept EINVAL', code: 'EINVAL' } },
    })
    expect(report.errors.map(({ error }) => error.message)).toEqual(['accept EINVAL'])
    expect(report.signals.map(({ name }) => name)).toContain('HTTPServerStoppedListening')
  })

  test('that dies twice, or after the stop, is one reason to stop', async () => {
    const { server } = await occupied()
    const t = newAttachedLife(server)
    await t.life.start()
    server.emit('error', new Error('first'))
    server.emit('error', new Error('second'))
    const report = await t.end()
    server.emit('error', new Error('third'))
    expect(report).toMatchObject({ exitCode: 4, reason: { kind: 'listener-died', error: { message: 'first' } } })
    expect(t.logged('error').filter((message) => message.startsWith('Stopped listening'))).toHaveLength(1)
  })

  test('that its owner closes is a stop: the request under way is answered, and the owner`s callback comes with the end', async () => {
    const slow = new Roadblock()
    const server = createServer((_, response) => void slow.pass().then(() => response.end('whole')))
    server.listen(0, '127.0.0.1')
    const t = newAttachedLife(server)
    const order: string[] = []
    t.life.addPreShutdownHook('leave', () => void order.push('hook'))
    await t.life.start()
    const answer = t.get('/slow').then(({ body }) => void order.push(body))
    await slow.reached
    server.close(() => void order.push('closed'))
    expect(t.hasFired('StopRequested')).toBe(true)
    await t.fired('NotAcceptingNewRequest')
    slow.release()
    const report = await t.end()
    await answer
    await expect.poll(() => order, POLL).toEqual(['hook', 'whole', 'closed'])
    expect(report).toMatchObject({ exitCode: 0, reason: { kind: 'server-closed' } })
    expect(t.logged('error')).toEqual([])
  })

  test('that closes with the AbortSignal of its owner`s listen() is a stop as well', async () => {
    const server = createServer((_, response) => void response.end('hello'))
    const controller = new AbortController()
    const t = newAttachedLife(server)
    server.listen({ port: 0, host: '127.0.0.1', signal: controller.signal })
    await t.life.start()
    expect((await t.get('/')).body).toBe('hello')
    controller.abort()
    expect(await t.end()).toMatchObject({ exitCode: 0, reason: { kind: 'server-closed' } })
  })

  test('of an owner who listens only later is waited for, and his failure to do so is told', async () => {
    const server = createServer((_, response) => void response.end('hello'))
    const t = newAttachedLife(server)
    const started = t.life.start()
    await t.fired('AuditRunning')
    server.listen(0, '127.0.0.1')
    await started
    expect((await t.get('/')).body).toBe('hello')

    const theirs = await occupied()
    const unlucky = createServer()
    const other = newAttachedLife(unlucky)
    const failed = other.life.start()
    failed.catch(() => undefined)
    await other.fired('AuditRunning')
    unlucky.listen(theirs.port, '127.0.0.1')
    await expect(failed).rejects.toMatchObject({
      code: 'ERR_START',
      message: expect.stringContaining('failed to listen on the attached server: listen EADDRINUSE'),
    })
  })
})

describe('a stop', () => {
  row('ER-05', 'before run() begins nothing: no audit, no listener, no hook; what was registered is destroyed (V17)', async () => {
    const audit = new NotedAudit()
    const called: string[] = []
    const t = newLife({ options: { audit, signal: AbortSignal.abort() } })
    t.life.addPostStartHook('warm', () => void called.push('warm'))
    t.life.addPreShutdownHook('leave', () => void called.push('leave'))
    for (const name of ['first', 'second']) t.life.addDestroy(name, () => void called.push(name))
    const report = await t.end(t.life.run())
    expect(report).toMatchObject({ exitCode: 0, reason: { kind: 'abort-signal' }, listeners: [] })
    expect(audit.calls).toEqual([])
    expect(called).toEqual(['first', 'second'])
    expect(t.signals).not.toContain('Start')
    expect(t.signals).toContain('HTTPServerStoppedListening')
  })

  test.each([
    ['audit run', 'heeds', []],
    ['audit run', 'goes on', ['audit runs', 'audit is shut down']],
    ['audit run', 'never', []],
    ['bind', 'goes on', ['audit runs', 'bound', 'audit is shut down']],
    ['bind', 'never', ['audit runs', 'bound', 'audit is shut down']],
    ['post-start hook', 'heeds', ['audit runs', 'bound', 'hook', 'audit is shut down']],
    ['post-start hook', 'goes on', ['audit runs', 'bound', 'hook', 'audit is shut down']],
    ['post-start hook', 'never', ['audit runs', 'bound', 'hook', 'audit is shut down']],
  ])('at %s of start-up, which then %s, releases exactly what was acquired', async (point, how, acquired) => {
    const program = startSpeaking('start-up.mjs', [point, how])
    await program.said(`at ${point}`)
    program.signal('SIGTERM')
    await expectReleased(program, acquired)
  })

  test.each([
    ['pino', 'logger import', []],
    ['@hono/node-server', 'adapter import', ['audit runs', 'audit is shut down']],
  ])('while %s is being loaded releases exactly what was acquired', async (slowImport, point, acquired) => {
    const folder = await temporaryFolder()
    const program = startSpeaking('start-up.mjs', [point], {
      env: { SLOW_IMPORT: slowImport, RELEASE: join(folder, 'release') },
      // It stands in for modules that take time: node's newer way has no hooks that wait.
      nodeOptions: ['--disable-warning=DEP0205', '--import', new URL('../fixtures/slow-import.mjs', import.meta.url).href],
    })
    await program.said('at import')
    program.signal('SIGTERM')
    await expectReleased(program, acquired)
    // The log was opened after the end, and nothing of it was lost.
    if (point === 'logger import') expect(program.log.map(({ msg }) => msg).at(-1)).toBe('the server is exiting')
  })

  test('while the platform is being told takes that back, and the tool with it', async () => {
    const { path, notified } = await fakeNotifier('exec sleep 600')
    const program = startSpeaking('start-up.mjs', ['nowhere'], { env: { NOTIFY_SOCKET: '/nowhere', PATH: path } })
    await expect.poll(notified, POLL).toMatch(/^--pid=\d+ .*READY=1( .*)? by \d+$/)
    const tool = Number((await notified()).split(' by ')[1])
    program.signal('SIGTERM')
    await expectReleased(program, ['audit runs', 'bound', 'hook', 'audit is shut down'])
    await expect.poll(() => isRunning(tool), POLL).toBe(false)
  })

  test('before start() only destroys; start() is refused then and begins nothing', async () => {
    const audit = new NotedAudit()
    const called: string[] = []
    const t = newLife({ options: { audit } })
    t.life.addDestroy('pool', () => void called.push('pool'))
    const report = await t.life.stop('early')
    expect(report).toMatchObject({ exitCode: 0, reason: { kind: 'stop', reason: 'early' } })
    expect(called).toEqual(['pool'])
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START', details: { reason: { reason: 'early' } } })
    expect(await t.life.run()).toBe(report)
    expect(audit.calls).toEqual([])
    expect(called).toEqual(['pool'])
  })

  test('before start() warns when the attached server listens already: hooks are not run', async () => {
    const called: string[] = []
    const t = newAttachedLife((await occupied()).server)
    t.life.addPreShutdownHook('leave', () => void called.push('leave'))
    t.life.addDestroy('pool', () => void called.push('pool'))
    const report = await t.end()
    expect(called).toEqual(['pool'])
    const message = expect.stringContaining('pre-shutdown hooks were not run') as string
    expect(report).toMatchObject({ exitCode: 0, warnings: [{ message }] })
    expect(t.logged('warn')).toEqual([message])
    await t.life.stop()
    expect(report.warnings).toHaveLength(1)
  })

  test('before start() says nothing of hooks when nothing listens', async () => {
    const t = newAttachedLife(createServer())
    t.life.addPreShutdownHook('leave', () => undefined)
    expect((await t.end()).warnings).toEqual([])
  })

  test('in the middle of start() rejects it, and is answered with the whole report', async () => {
    const running = new Roadblock()
    const reasons: unknown[] = []
    const audit = new NotedAudit({
      run: async ({ signal }) => {
        await Promise.race([running.pass(), aborted(signal)])
        reasons.push(signal.reason)
        throw new Error('given up')
      },
    })
    const t = newLife({ options: { audit } })
    const started = t.life.start()
    started.catch(() => undefined)
    await running.reached
    const report = await t.end(t.life.stop('in between'))
    await expect(started).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
    expect(report).toMatchObject({ exitCode: 0, reason: { reason: 'in between' } })
    expect(audit.calls).toEqual(['run'])
    expect(reasons).toMatchObject([{ message: 'start-up was stopped' }])
  })

  test('in the middle of start() shuts an audit backend down again that begins all the same, also after the end', async () => {
    const running = new Roadblock()
    const audit = new NotedAudit({ run: () => running.pass() })
    const t = newLife({ options: { audit } })
    t.life.start().catch(() => undefined)
    await running.reached
    await t.end(t.life.stop())
    expect(audit.calls).toEqual(['run'])
    running.release()
    await expect.poll(() => audit.calls).toEqual(['run', 'shutdown'])
  })

  test('when the first of two listeners is bound leaves the second alone', async () => {
    const { port } = await occupied()
    const t = newLife({
      options: {
        listeners: [
          { port: 0, host: '127.0.0.1' },
          { port, host: '127.0.0.1' },
        ],
      },
    })
    t.life.events$.subscribe(({ type }) => void (type === 'listening' && t.life.stop().catch(() => undefined)))
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_STOPPED_DURING_START' })
    expect(await t.end(t.life.ended)).toMatchObject({ exitCode: 0, listeners: [{ admin: false }], errors: [] })
  })

  test('by `await using` ends the life when its scope is left, also by an error', async () => {
    const t = newLife()
    await expect(
      (async () => {
        await using life = t.life
        await life.start()
        throw new Error('in scope')
      })(),
    ).rejects.toThrow('in scope')
    expect(t.hasFired('Ended')).toBe(true)
    await expect(t.get('/')).rejects.toEqual(REFUSED)
  })
})

/**
 * What a start-up must have said by its end, in order; both destroy functions once, and nothing
 * that listens.
 */
async function expectReleased(program: TestProcess, acquired: readonly string[]): Promise<void> {
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  const said = program.lines.filter((line) => !line.startsWith('{') && !line.startsWith('at ') && !line.startsWith('listening at exit'))
  expect(said.filter((line) => !line.startsWith('destroyed'))).toEqual(acquired)
  expect(said.filter((line) => line.startsWith('destroyed'))).toEqual(['destroyed pool', 'destroyed cache'])
  expect(program.lines.at(-1)).toBe('listening at exit: 0')
  expect(program.report()).toMatchObject({ exitCode: 0, reason: { kind: 'os-signal', signal: 'SIGTERM' } })
  // Nothing had to be overruled to end the process.
  expect(program.stderr).toBe('')
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

/** One that has ended, and whose parent has, is there until PID 1 takes notice. */
const isRunning = async (pid: number): Promise<boolean> =>
  /^State:\s+[^Z]/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''))

/**
 * A `systemd-notify` that comes first in PATH and notes how it was told that the server is ready,
 * and by which process.
 */
async function fakeNotifier(thenDoes: string): Promise<{ readonly path: string; readonly notified: () => Promise<string> }> {
  const folder = await temporaryFolder()
  const [tool, notes] = [join(folder, 'systemd-notify'), join(folder, 'notes')]
  await writeFile(
    tool,
    `#!/bin/sh\ncase "$*" in *READY*) echo "$@ by $$" >'${notes}.tmp' && mv '${notes}.tmp' '${notes}'; ${thenDoes};; esac\n`,
  )
  await chmod(tool, 0o755)
  return { path: `${folder}:${process.env['PATH']}`, notified: async () => (await readFile(notes, 'utf8').catch(() => '')).trim() }
}

describe('connections', () => {
  row('ER-07', 'that exceed the limit of the HTTP shutdown are counted, named and closed; run() returns success (V3)', async () => {
    const t = newLife({ clock: new VirtualClock(), options: { connectionTimeout: '500ms', lastCall: 0 } })
    await t.life.start()
    const socket = connect(t.port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => undefined)
    // Half a request: neither idle nor in flight.
    socket.write('POST /upload HTTP/1.1\r\nHost: upstream.test\r\nContent-Le')
    await once(socket, 'connect')
    expect((await t.get('/')).status).toBe(200)
    const ended = t.life.stop()
    const { localPort } = socket
    const closed = once(socket, 'close')
    const report = await t.end(ended)
    await closed
    expect(report.exitCode).toBe(0)
    expect(report.connections).toMatchObject({ forced: 1, forcedNames: [{ name: `127.0.0.1:${localPort} half-sent request` }] })
    const phase = report.phases.find(({ name }) => name === 'close-connections')
    expect(phase).toMatchObject({
      outcome: 'cut',
      cut: [{ name: `127.0.0.1:${(report.connections.forcedNames[0]?.name ?? '').split(':')[1]}` }],
    })
    expect((phase?.end ?? 0) - (phase?.start ?? 0)).toBe(500)
    expect(t.events.filter(({ type }) => type === 'connections')).toHaveLength(1)
    expect(t.logged('warn')).toContain('connections closed by force')
  })
})

describe('telling systemd', () => {
  row('ER-08', 'over a socket that does not work is an error in the log, and the server serves', async () => {
    const t = newLife({ env: { NOTIFY_SOCKET: '/nowhere/notify', PATH: process.env['PATH'] ?? '' } })
    await t.life.start()
    await expect.poll(() => t.logged('error').join('\n'), POLL).toContain('announce failed: Unable to send')
    const [line] = t.log.filter(({ level }) => level === 'error')
    expect(line?.fields).toMatchObject({
      phase: 'announce',
      err: { message: expect.stringMatching(/^Unable to send systemd daemon successful start message: /) },
    })
    expect((await t.get('/')).status).toBe(200)
    expect((await t.end()).exitCode).toBe(0)
  })

  test.each([
    ['fails', 'exit 3'],
    ['cannot be run', undefined],
  ])('with a tool that %s is an error in the log, and the server serves', async (_, thenDoes) => {
    const path = thenDoes === undefined ? '/nowhere' : (await fakeNotifier(thenDoes)).path
    const t = newLife({ env: { NOTIFY_SOCKET: '/nowhere/notify', PATH: path } })
    await t.life.start()
    await expect
      .poll(() => t.events.find((event) => event.type === 'phase.ended' && event.phase === 'announce'), POLL)
      .toMatchObject({
        outcome: 'failed',
        error: { message: expect.stringMatching(/^Unable to send systemd daemon successful start message: /) },
      })
    expect((await t.get('/')).status).toBe(200)
    const report = await t.end()
    expect(report.exitCode).toBe(0)
    expect(report.errors).toMatchObject([{ where: 'phase announce' }])
  })

  test('says READY for this process once it serves, and without NOTIFY_SOCKET says nothing', async () => {
    const { path, notified } = await fakeNotifier('exit 0')
    const t = newLife({ env: { NOTIFY_SOCKET: '/run/notify', PATH: path } })
    await t.life.start()
    await t.fired('Announced')
    expect(await notified()).toMatch(/^--pid=4711 .*READY=1( .*)? by \d+$/)

    const other = await fakeNotifier('exit 0')
    const silent = newLife({ env: { PATH: other.path } })
    await silent.life.start()
    await silent.fired('Announced')
    expect(await other.notified()).toBe('')
  })
})

describe('destroy functions', () => {
  const fails = (): Promise<never> => Promise.reject(new Error('no'))
  const paths: readonly (readonly [string, (life: Lifecycle) => unknown])[] = [
    ['a stop', (life) => life.start()],
    ['a stop before the start', () => undefined],
    [
      'a failing pre-shutdown hook',
      (life) => {
        life.addPreShutdownHook('fails', fails)
        return life.start()
      },
    ],
    [
      'a failing post-start hook',
      (life) => {
        life.addPostStartHook('fails', fails)
        return life.start()
      },
    ],
    [
      'a listener that dies',
      async (life) => {
        await life.start()
        life.root.send({ type: 'listener.died', address: 'here', error: { name: 'Error', message: 'no' } })
      },
    ],
  ]
  for (const [path, begin] of paths) {
    row('ER-09', `run in the order of registration after ${path}`, async () => {
      const called: string[] = []
      const t = newLife()
      for (const name of ['first', 'second', 'third']) t.life.addDestroy(name, () => void called.push(name))
      await begin(t.life)
      await t.end()
      expect(called).toEqual(['first', 'second', 'third'])
    })
  }

  row(['ER-10', 'ER-11'], 'run once, however often the life is started, stopped and run (V18)', async () => {
    const called: string[] = []
    const audit = new NotedAudit()
    const t = newLife({ options: { audit } })
    t.life.addDestroy('pool', () => void called.push('pool'))
    t.life.addPostStartHook('warm', () => void called.push('warm'))
    await Promise.all([t.life.start(), t.life.start(), t.life.start()])
    await t.life.start()
    expect((await t.get('/readyz')).status).toBe(200)
    const runs = [t.life.run(), t.life.run()]
    expect(t.process.listenerCount('SIGTERM')).toBe(1)
    const [first, second] = [t.life.stop('first'), t.life.stop('second')]
    const report = await t.end(first)
    expect(await second).toBe(report)
    expect(await Promise.all(runs)).toEqual([report, report])
    expect(await t.life.stop('third')).toBe(report)
    expect(report.reason).toEqual({ kind: 'stop', reason: 'first' })
    await expect(t.life.start()).rejects.toMatchObject({ code: 'ERR_TOO_LATE' })
    expect(called).toEqual(['warm', 'pool'])
    expect(audit.calls).toEqual(['run', 'shutdown'])
    expect(t.life.addresses).toHaveLength(1)
    await expect(t.get('/')).rejects.toEqual(REFUSED)
  })

  test('go on behind one that fails or hangs, each with its bound, and cost exit code 4', async () => {
    const called: string[] = []
    const t = newLife({ clock: new VirtualClock() })
    t.life.addDestroy('throws', () => {
      throw new Error('not today')
    })
    t.life.addDestroy('hangs', () => never, { timeout: '1s' })
    t.life.addDestroy('last', () => void called.push('last'))
    await t.life.start()
    const report = await t.end()
    expect(called).toEqual(['last'])
    expect(report.exitCode).toBe(4)
    expect(report.hooks).toMatchObject([
      { name: 'throws', outcome: 'failed', error: { message: 'not today' } },
      { name: 'hangs', outcome: 'failed', error: { code: 'ERR_TIMEOUT' } },
      { name: 'last', outcome: 'ok' },
    ])
  })

  test('are all called when the budget has no time left for them, with a signal that says so', async () => {
    const signals: AbortSignal[] = []
    const t = newLife({ clock: new VirtualClock(), options: { deadline: '8s' } })
    t.life.addDestroy('hangs', () => never)
    for (const name of ['second', 'third']) t.life.addDestroy(name, ({ signal }) => void signals.push(signal))
    await t.life.start()
    const report = await t.end()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
    expect(report.exitCode).toBe(5)
    expect(report.hooks.map(({ outcome }) => outcome)).toEqual(['cut', 'cut', 'cut'])
  })
})

row('ER-12', 'the audit backend runs before the first request: until it does, the port is closed', async () => {
  const order: string[] = []
  const running = new Roadblock()
  const audit = new NotedAudit({ run: () => running.pass().then(() => void order.push('audit runs')) })
  const { server, port } = await occupied()
  server.close()
  await once(server, 'close')
  const t = newLife({
    options: { audit, port },
    listener: (_, response) => {
      order.push('request')
      response.end()
    },
  })
  const started = t.life.start()
  await running.reached
  await expect(fresh(port, '/')).rejects.toEqual(REFUSED)
  running.release()
  await started
  await t.get('/')
  expect(order).toEqual(['audit runs', 'request'])
})

describe('two lives', () => {
  test('in one process share nothing: names, signals, health, traffic, ends', async () => {
    const [one, two] = [newLife(), newLife()]
    for (const t of [one, two]) {
      t.life.addReadyzCheck('db', () => undefined)
      t.life.addPreShutdownHook('leave', () => undefined)
    }
    await Promise.all([one.life.start(), two.life.start()])
    await one.end()
    expect(two.hasFired('StopRequested')).toBe(false)
    expect((await two.get('/readyz')).status).toBe(200)
    expect((await two.get('/')).body).toBe('hello')
    await expect(one.get('/')).rejects.toEqual(REFUSED)
    const report = await two.end()
    expect(report).toMatchObject({ exitCode: 0, listeners: [{ url: `http://127.0.0.1:${two.port}` }] })
  })

  test('on one server are one too many: the second is refused, and the first goes on', async () => {
    const { server } = await occupied()
    const t = newAttachedLife(server)
    await t.life.start()
    expect(refusal(() => attachLifecycle(server))).toMatchObject({
      code: 'ERR_ALREADY_ATTACHED',
      message: expect.stringContaining('quiesce is already attached to this server'),
    })
    expect((await t.get('/')).body).toBe('theirs')
    await t.end()
    await expect(t.get('/')).rejects.toEqual(REFUSED)
  })

  test('on one server one after the other: dispose() gives it back', async () => {
    const { server } = await occupied()
    const first = newAttachedLife(server)
    first.life.dispose()
    first.life.dispose()
    const second = newAttachedLife(server)
    await second.life.start()
    expect((await second.get('/')).body).toBe('theirs')
    expect((await second.get('/readyz')).status).toBe(200)
  })

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['{}', {}],
    ['"server"', 'server'],
    ['{}', { listen: () => undefined }],
    ['[object Server]', createNetServer()],
  ])('around what is no server is refused: %s', (shown, server) => {
    expect(refusal(() => attachLifecycle(server as unknown as Server))).toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringContaining(`server: got ${shown}, allowed: a server of node:http, node:https or node:http2`),
      details: { field: 'server', given: server, allowed: expect.stringContaining('a server of node:http, node:https or node:http2') },
    })
  })
})
