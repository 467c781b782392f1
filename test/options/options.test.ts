import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { QuiesceError } from '#src/base/errors.ts'
import { type RegisteredWork, stopProfiles } from '#src/options/budget.ts'
import { type AnyOption, defaultText } from '#src/options/kit/define.ts'
import { file } from '#src/options/kit/kinds.ts'
import type { OptionProblem } from '#src/options/kit/problems.ts'
import { type LifecycleOptions, resolveLifecycleOptions, resolveServerOptions, type ServerOptions } from '#src/options/options.ts'
import { SERVER_OPTIONS } from '#src/options/rows/lifecycle.ts'
import type { PlatformFacts } from '#src/platforms/platform.ts'

const nowhere: PlatformFacts = { env: {}, pid: 4711, terminal: false, containerFile: false }
const kubernetes: PlatformFacts = { ...nowhere, env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } }

const resolve = (options: LifecycleOptions = {}, facts = nowhere) => resolveLifecycleOptions(options, { facts })

/** What each kind of stop has when something is registered for every late phase. */
const profilesOf = (
  options: LifecycleOptions = {},
  facts = nowhere,
  registered: RegisteredWork = { hooks: true, audit: true, destroy: true },
) => stopProfiles(resolve(options, facts).plans, registered)

/** The messages of a refusal, one for each problem. */
function refusal(options: unknown, facts = nowhere): string[] {
  try {
    resolveServerOptions(options as ServerOptions, { facts })
  } catch (thrown) {
    const { code, message, details } = thrown as QuiesceError
    expect(code).toBe('ERR_OPTION_INVALID')
    const problems = details['problems'] as readonly OptionProblem[]
    expect(message.split('\n')).toEqual(problems.map((problem) => problem.message))
    return message.split('\n')
  }
  throw new Error('the options were accepted')
}

describe('defaults', () => {
  test('without a platform', () => {
    expect(resolve()).toMatchObject({
      shutdownDelayMs: 0,
      deadlineMs: 8_000,
      watchGraceMs: 2_666,
      hookTimeoutMs: 1_700,
      requestTimeoutMs: 60_000,
      connectionTimeoutMs: 60_000,
      livezGraceMs: 0,
      healthCheckTimeoutMs: 900,
      reservesMs: { connections: 250, audit: 1_000, destroy: 2_000, flush: 500 },
      whileDraining: 'refuse',
      notifyClients: 'gradual',
      health: false,
      exit: 'explicit',
    })
  })

  test('on Kubernetes', () => {
    expect(resolve({}, kubernetes)).toMatchObject({ shutdownDelayMs: 5_000, deadlineMs: 25_000, watchGraceMs: 8_000, hookTimeoutMs: 5_000 })
  })

  test('of a created server', () => {
    expect(resolveServerOptions({}, { facts: nowhere })).toMatchObject({
      listeners: [{ port: 8_080 }],
      keepAliveTimeoutMs: 75_000,
      headersTimeoutMs: 32_000,
      maxHeaderSize: undefined,
      maxConcurrentStreams: 100,
      streamBuffer: 262_144,
      health: { healthz: '/healthz', livez: '/livez', readyz: '/readyz' },
      serverOptions: {},
    })
  })

  test('undefined is the same as leaving an option out', () => {
    const nothing = Object.fromEntries(Object.keys(SERVER_OPTIONS).map((name) => [name, undefined])) as ServerOptions
    expect(resolveServerOptions(nothing, { facts: nowhere })).toEqual(resolveServerOptions({}, { facts: nowhere }))
  })

  test('every duration says why it is what it is', () => {
    const { chosen } = resolve({ requestTimeout: '30s' }, kubernetes)
    expect(chosen).toMatchObject({
      shutdownDelay: { ms: 5_000, because: 'platform kubernetes' },
      requestTimeout: { ms: 30_000, because: 'given' },
      connectionTimeout: { ms: 30_000, because: 'the request timeout' },
      livezGrace: { ms: 0, because: 'default' },
    })
  })

  test('connections get 2 s in retry-after mode, whatever the request timeout is', () => {
    expect(resolve({ whileDraining: 'retry-after', requestTimeout: '60s' }).connectionTimeoutMs).toBe(2_000)
    expect(resolve({ whileDraining: 'retry-after', connectionTimeout: '7s' }).connectionTimeoutMs).toBe(7_000)
  })

  test('a single health path is moved alone, an admin listener is on loopback', () => {
    expect(resolve({ health: { paths: { livez: '/alive' } }, admin: { port: 9_090 } })).toMatchObject({
      health: { healthz: '/healthz', livez: '/alive', readyz: '/readyz' },
      admin: { port: 9_090, host: '127.0.0.1' },
    })
  })
})

describe('deadline and delay', () => {
  test('an unset deadline is raised to fit a given delay and watch grace', () => {
    expect(resolve({ shutdownDelay: '70s' }, kubernetes)).toMatchObject({
      shutdownDelayMs: 70_000,
      deadlineMs: 95_000,
      chosen: { deadline: { because: '25s of platform kubernetes does not fit' } },
    })
    expect(resolve({ shutdownDelay: '10s', watchGrace: '30s' }).deadlineMs).toBe(48_000)
  })

  test('an unset deadline stays when the delay fits', () => {
    expect(resolve({ shutdownDelay: '1.5s' }).deadlineMs).toBe(8_000)
  })

  test('an unset deadline is raised to keep given reserves whole', () => {
    const { deadlineMs, cutsMs } = profilesOf({ reserves: { destroy: '20s' } }).default
    expect(deadlineMs).toBe(28_000)
    expect(cutsMs.destroy - cutsMs.audit).toBe(20_000)
    expect(cutsMs.requests).toBe(6_250)
  })

  test('the delay of the platform is lowered to fit a given deadline', () => {
    const { shutdownDelayMs, chosen } = resolve({ deadline: '6s' }, kubernetes)
    expect(shutdownDelayMs).toBe(1_500)
    expect(profilesOf({ deadline: '6s' }, kubernetes).default.delayMs).toBe(1_500)
    expect(chosen['shutdownDelay']?.because).toBe('5s of platform kubernetes does not fit')
  })

  test('a given delay that leaves no time before a given deadline is refused', () => {
    expect(refusal({ shutdownDelay: '10s', deadline: '12s' })).toEqual([
      'shutdownDelay: got "10s", allowed: at most 6.375s with deadline 12s, so that the later phases keep their time; deadline would have to be at least 15.7s',
    ])
    expect(profilesOf({ shutdownDelay: 6_375, deadline: '12s' }).default.delayMs).toBe(6_375)
    expect(profilesOf({ shutdownDelay: '10s', deadline: '15.7s' }).default.delayMs).toBe(10_000)
  })

  test.each<[LifecycleOptions & { deadline: string }, number]>([
    [{ shutdownDelay: '3s', deadline: '7s' }, 8_700],
    [{ shutdownDelay: '1s', deadline: '3s' }, 4_000],
    [{ shutdownDelay: '3s', watchGrace: '10s', deadline: '8650ms' }, 16_800],
    [{ watchGrace: '10s', deadline: '8s' }, 13_800],
    [{ reserves: { audit: '7.5s' }, deadline: '8s' }, 8_400],
    [{ reserves: { audit: '5s' }, shutdownDelay: '4s', deadline: '8s' }, 13_200],
  ])('the deadline that a refusal of %j names fits, and a shorter one does not', (options, smallestMs) => {
    const [, named] = /deadline would have to be at least (\S+)$/.exec(refusal(options)[0] as string) ?? []
    expect(resolve({ ...options, deadline: named as string }).deadlineMs).toBe(smallestMs)
    expect(() => resolve({ ...options, deadline: smallestMs - 100 })).toThrow('would have to be')
  })

  test('so are a watch grace and reserves', () => {
    expect(refusal({ watchGrace: '10s', deadline: '8s' })[0]).toMatch(/^watchGrace: got "10s", allowed: at most 4.25s with deadline 8s/)
    expect(refusal({ reserves: { audit: '7.5s' }, deadline: '8s' })).toEqual([
      'reserves: got {"audit":"7.5s"}, allowed: together at most 7.2s with deadline 8s, so that requests have the rest; deadline would have to be at least 8.4s',
    ])
  })

  test('reserves that are asked for may be more than half of the deadline, and are kept whole', () => {
    const { cutsMs } = profilesOf({ deadline: '30s', reserves: { destroy: '20s' } }).default
    expect(cutsMs.destroy - cutsMs.audit).toBe(20_000)
    expect(cutsMs).toMatchObject({ requests: 8_250, connections: 8_500, audit: 9_500, destroy: 29_500 })
    expect(resolve({ deadline: '30s', reserves: { destroy: '20s' } })).toMatchObject({ watchGraceMs: 3_333, hookTimeoutMs: 3_333 })
  })

  test('what was asked for is not kept for what is not registered, either', () => {
    const nothing = { hooks: true, audit: false, destroy: false }
    expect(profilesOf({ deadline: '30s', reserves: { destroy: '20s' } }, nowhere, nothing).default.cutsMs.requests).toBe(29_248)
  })
})

describe('profiles', () => {
  test('a user at a terminal waits for 2 s at most, a crash for 5 s', () => {
    const profiles = profilesOf({}, kubernetes)
    expect(profiles.default).toMatchObject({ delayMs: 5_000, deadlineMs: 25_000, watchGraceMs: 8_000 })
    expect(profiles.interactive).toMatchObject({ delayMs: 0, deadlineMs: 2_000, watchGraceMs: 666 })
    expect(profiles.crash).toMatchObject({ delayMs: 0, deadlineMs: 5_000 })
    expect(profiles.startFailed).toMatchObject({ delayMs: 0, deadlineMs: 25_000 })
  })

  test('a shorter deadline shortens them all', () => {
    const profiles = profilesOf({ deadline: '1s' })
    expect(profiles.interactive.deadlineMs).toBe(1_000)
    expect(profiles.crash.deadlineMs).toBe(1_000)
  })

  test('a crash has the deadline that was given, or one of its own', () => {
    expect(profilesOf({ deadline: '20s' }).crash.deadlineMs).toBe(20_000)
    expect(profilesOf({ deadline: '20s', crashDeadline: '3s' }).crash).toMatchObject({ deadlineMs: 3_000, watchGraceMs: 1_000 })
    expect(profilesOf({ crashDeadline: '30s' }).crash.deadlineMs).toBe(30_000)
    expect(profilesOf({ platform: 'pm2' }).crash.deadlineMs).toBe(1_400)
    expect(resolve({ deadline: '20s' }).chosen['crashDeadline']).toEqual({ ms: 20_000, because: 'the deadline' })
  })

  test('a delay that was given is kept at a terminal, too, whole', () => {
    const profiles = profilesOf({ shutdownDelay: '1s' })
    expect(profiles.interactive.delayMs).toBe(1_000)
    expect(profiles.interactive.deadlineMs).toBeLessThanOrEqual(profiles.default.deadlineMs)
    expect(profilesOf({ shutdownDelay: 0, watchGrace: 0 }).interactive.deadlineMs).toBe(2_000)
  })
})

describe('the last call', () => {
  test('is 300 ms wherever no user waits for the prompt', () => {
    const profiles = profilesOf({})
    expect([profiles.default.lastCallMs, profiles.crash.lastCallMs]).toEqual([300, 300])
    expect([profiles.interactive.lastCallMs, profiles.startFailed.lastCallMs]).toEqual([0, 0])
  })

  test('is what is given, at a terminal, too', () => {
    expect(profilesOf({ lastCall: '50ms' })).toMatchObject({ default: { lastCallMs: 50 }, interactive: { lastCallMs: 50 } })
    expect(profilesOf({ lastCall: 0 }).default.lastCallMs).toBe(0)
  })

  test('leaves the requests that it lets in time to be answered', () => {
    expect(profilesOf({ deadline: '200ms' }).default.lastCallMs).toBeLessThan(100)
    const short = { lastCall: '1s', deadline: '5s' }
    expect(profilesOf(short, nowhere, { hooks: false, audit: false, destroy: false }).default.lastCallMs).toBe(1_000)
    // What is registered needs its time, and the last call gives way.
    expect(profilesOf(short).default.lastCallMs).toBeLessThan(1_000)
    expect(refusal({ lastCall: '10s', deadline: '20s' })).toEqual([
      expect.stringMatching(/^lastCall: got "10s", allowed: at most \S+ with deadline 20s/),
    ])
  })
})

describe('refusals', () => {
  test('a port is a number or its digits, wherever it is given, and a number from then on', () => {
    const facts = { ...nowhere }
    const { listeners, admin, inspector } = resolveServerOptions(
      { port: '8080', admin: { port: '9090' }, inspector: { port: '0' } },
      { facts },
    )
    expect({ listeners, admin, inspector }).toMatchObject({ listeners: [{ port: 8080 }], admin: { port: 9090 }, inspector: { port: 0 } })
    expect(resolveServerOptions({ listeners: [{ port: '81' }, { port: 82 }] }, { facts }).listeners).toMatchObject([
      { port: 81 },
      { port: 82 },
    ])
  })

  test('unknown options, with the one that was probably meant', () => {
    expect(refusal({ shutdownDelai: '5s' })).toEqual(['shutdownDelai: unknown option (did you mean "shutdownDelay"?)'])
    expect(refusal({ hostname: '::' })).toEqual(['hostname: unknown option (did you mean "host"?)'])
    expect(() => resolve({ port: 1 } as LifecycleOptions)).toThrow('port: unknown option, allowed: only for createServer')
  })

  test('all problems at once', () => {
    expect(refusal({ port: 70_000, whileDraining: 'drop', deadline: '1ms', notifyClients: 'after-delay', colour: 'red' })).toEqual([
      'port: got 70000, allowed: an integer from 0 to 65535; 0 is any free port',
      'whileDraining: got "drop", allowed: refuse, retry-after',
      'deadline: got "1ms", allowed: milliseconds as a number, or text like 500ms, 5s, 1m30s (units ns, us, ms, s, m, h, d); 100ms to 24d',
      expect.stringMatching(/^colour: unknown option, allowed: one of port, /),
      'notifyClients: got "after-delay", allowed: only with whileDraining: after-delay is for the mode retry-after, in which clients are still answered after the delay',
    ])
  })

  test.each([
    ['--shutdown-delay-duration can not be negative value', { shutdownDelay: '-1s' }],
    ['--request-timeout can not be negative value', { requestTimeout: '-2m' }],
    ['--livez-grace-period can not be a negative value', { livezGrace: -1 }],
    ['shutdown-watch-termination-grace-period, if provided, can not be a negative value', { watchGrace: '-1s' }],
  ])('negative durations in upstream’s words: %s', (text, options) => {
    expect(refusal(options)).toEqual([expect.stringContaining(`(${text})`)])
  })

  test('upstream’s words are kept for negative values', () => {
    expect(refusal({ requestTimeout: 'soon' })[0]).not.toContain('negative')
  })

  const PEM = '-----BEGIN CERTIFICATE-----'
  const FILES = { certFile: 'a.crt', keyFile: 'a.key' }
  const wrong: { readonly [K in keyof Required<ServerOptions>]: readonly unknown[] } = {
    port: ['', ' 80', '1e3', '65536', 1.5, -1],
    host: ['', 1],
    listeners: [
      [],
      [{}],
      [{ port: 1, path: '/x' }],
      [{ port: 1, hots: 'x' }],
      [{ path: '/x', tls: {} }],
      [{ port: 1, http2: 1 }],
      [{ path: `/${'x'.repeat(107)}` }],
      [{ path: '\0abstract' }],
      'x',
    ],
    tls: [
      true,
      {},
      { cert: 'no PEM', key: PEM },
      { cert: PEM },
      { key: PEM },
      { certFile: 'a' },
      { keyFile: 'a' },
      { cert: PEM, key: PEM, certFile: 'a', keyFile: 'a' },
      { certFile: 'a', keyFile: '' },
      { ...FILES, sni: {} },
      { ...FILES, sni: [{}] },
      { ...FILES, sni: [{ certFile: 'a' }] },
      { ...FILES, sni: [{ ...FILES, names: ['a b'] }] },
      { ...FILES, minVersion: 'TLSv1.1' },
    ],
    http2: ['yes'],
    platform: ['mainframe'],
    behind: ['elb', 1],
    debugSocket: ['', 1, '\0abstract'],
    shutdownDelay: ['5', -1, Number.NaN, {}],
    lastCall: ['5', -1, '10m'],
    whileDraining: [true],
    watchGrace: ['x'],
    deadline: [0, 99],
    killAfter: [0, 'never'],
    crashDeadline: [99, '1'],
    requestDrainTimeout: [0, 'x'],
    connectionTimeout: [Number.POSITIVE_INFINITY],
    notifyClients: ['never'],
    goawayChance: [-0.001, 0.021, '0.01', Number.NaN],
    requestTimeout: [null],
    livezGrace: [[]],
    hookTimeout: [0],
    healthCheckTimeout: [0],
    metrics: ['yes', {}],
    keepAliveTimeout: ['x'],
    headersTimeout: [0, 'x'],
    maxHeaderSize: [4_095, 16_777_217, '16kb', 20_000.5],
    maxConcurrentStreams: [0, 2 ** 31, '100', Number.NaN],
    streamBuffer: [16_383, 2 ** 24, '256 KiB'],
    reserves: [5, { flush: 0 }, { flsh: 1 }],
    inspector: [
      'yes',
      { port: -1 },
      { token: 'too short' },
      { token: 'a token with spaces in it' },
      { actions: 1 },
      { drill: true },
      { prt: 1 },
    ],
    journal: ['', 1],
    inspect: [{}, { inspect: {} }, { next: 1 }, 'console'],
    longRunning: [/watch/],
    health: [
      'yes',
      { paths: { livez: 'alive' } },
      { paths: { alive: '/x' } },
      { paths: { livez: '/x?y' } },
      { paths: { livez: '/x#y' } },
      { paths: { livez: '/x', readyz: '/x' } },
      { paths: { livez: '/readyz' } },
    ],
    admin: [{}, { port: 'x' }, { path: '/x' }, 9_090],
    audit: [{}, { run() {} }],
    logger: [true, { info() {} }],
    reportFile: ['', 1],
    pretty: ['yes', 1, null],
    exit: ['now'],
    destroyOrder: ['backwards', true],
    exempt: [['health'], ['/a%2fb'], '/health'],
    steps: [{}, [5], [{ name: 'a' }], [{ name: 'count', admit: () => true }], [{ name: 'a', admit: () => true, befor: 'count' }]],
    signals: [['SIGTREM'], ['SIGKILL'], { add: 'SIGQUIT' }, 'SIGTERM'],
    signal: [{ aborted: false }, { aborted: 1, addEventListener() {}, removeEventListener() {} }],
    disabledPostStartHooks: ['x', [1]],
    wording: [
      'orders',
      { nmae: 'orders' },
      { name: '' },
      { name: 'two\nlines' },
      { refusal: { body: 5 } },
      { refusal: { headers: { 'Retry-After': '3' } } },
      { refusals: { 'not-accepting': { retryAfterSeconds: 1.5 } } },
      { log: { exiting: 5 } },
      { metrics: { prefix: '5_' } },
    ],
    websocket: ['x', {}, { server: {} }, { server: { handleUpgrade: () => {}, options: { noServer: false } } }],
    serverOptions: ['x'],
  }
  test('options that are no object', () => {
    for (const options of [[], null, 'x', () => {}])
      expect(refusal(options)).toEqual([expect.stringMatching(/^options: got .+, allowed: an object with fields of its own$/)])
  })

  test('a report in the place of the journal, by whatever name; a device takes both', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const [journal, link] = [join(folder, 'journal'), join(folder, 'link')]
    await symlink(folder, link)
    const line = (path: string) => `reportFile: got ${JSON.stringify(path)}, allowed: another file than that of journal`
    expect(refusal({ journal, reportFile: journal })).toEqual([line(journal)])
    const same = join(link, 'journal')
    expect(refusal({ journal, reportFile: same })).toEqual([line(same)])
    const ahead = join(folder, 'ahead')
    await symlink('journal', ahead)
    expect(refusal({ journal, reportFile: ahead })).toEqual([line(ahead)])
    expect(refusal({ journal: ahead, reportFile: journal })).toEqual([line(journal)])
    await symlink('loop', join(folder, 'loop'))
    expect(resolve({ journal, reportFile: join(folder, 'loop') })).toMatchObject({ journal })
    expect(resolve({ journal, reportFile: join(folder, 'report') })).toMatchObject({ journal })
    expect(resolve({ journal: '/dev/null', reportFile: '/dev/null' })).toMatchObject({ journal: '/dev/null' })
  })

  test('health paths together with the others; swapped ones are fine', () => {
    expect(refusal({ health: { paths: { livez: '/readyz' } }, port: -1 })).toHaveLength(2)
    expect(resolve({ health: { paths: { livez: '/readyz', readyz: '/livez', healthz: undefined as never } } }).health).toEqual({
      healthz: '/healthz',
      livez: '/readyz',
      readyz: '/livez',
    })
  })

  test.each(Object.entries(wrong))('%s', (name, values) => {
    for (const value of values)
      expect(refusal({ [name]: value })).toEqual([
        expect.stringMatching(new RegExp(`^${name}\\S*: (got .+, allowed: .+|unknown.+|is set already.+)`)),
      ])
  })

  test.each<[string, object]>([
    ['health.paths.livez: got "livez", allowed: a path that begins with / and has no ? or #', { health: { paths: { livez: 'livez' } } }],
    ['health.paths.livz: unknown (did you mean "livez"?)', { health: { paths: { livz: '/x' } } }],
    ['health.paths: got "/readyz", allowed: paths that differ: this one has two endpoints', { health: { paths: { livez: '/readyz' } } }],
    ['health.status.failed: got 200, allowed: 400 to 599', { health: { status: { failed: 200 } } }],
    ['health.extra["/x"]: got "al", allowed: all, healthz, livez, readyz, or a list of check names', { health: { extra: { '/x': 'al' } } }],
    ['health.headers.x: got 5, allowed: text', { health: { headers: { x: 5 } } }],
    ['inspector.port: got "92.3", allowed: an integer from 0 to 65535; 0 is any free port', { inspector: { port: '92.3' } }],
    ['admin.port: got undefined, allowed: an integer from 0 to 65535; 0 is any free port', { admin: {} }],
    ['listeners[1].port: got "x", allowed: an integer from 0 to 65535; 0 is any free port', { listeners: [{ port: 1 }, { port: 'x' }] }],
    ['listeners[0]: got 80, allowed: { port, host? }, { path, mode? } or { fd }', { listeners: [80] }],
    ['exempt[0]: got "health", allowed: a path like /health, without escapes, ? or #', { exempt: ['health'] }],
    ['reserves.adit: unknown (did you mean "audit"?)', { reserves: { adit: '1s' } }],
    ['steps[0].admit: got undefined, allowed: a function of the exchange that returns true or false', { steps: [{ name: 'a' }] }],
    ['wording.refusal.body: got 5, allowed: text, or a function of the refused request', { wording: { refusal: { body: 5 } } }],
  ])('by its path: %s', (message, options) => {
    expect(refusal(options)).toEqual([message])
    const field = message.split(': ')[0]
    expect(() => resolveServerOptions(options, { facts: nowhere })).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    )
  })

  test('by its path in the file that it stands in', () => {
    const label = (name: string): string => `${name} in c.json`
    expect(() => resolveServerOptions({ admin: { port: -1 } }, { facts: nowhere, label })).toThrow('admin.port in c.json: got -1, ')
  })

  test('by the names the user knows', () => {
    const context = { facts: nowhere, asText: true, label: (name: string) => `--${SERVER_OPTIONS[name as 'port'].flag}` }
    expect(() => resolveServerOptions({ livezGrace: 'x' }, context)).toThrow(
      '--livez-grace-period: got "x", allowed: a duration like 500ms, 5s, 1m30s (units ns, us, ms, s, m, h, d); 0 to 24d',
    )
  })
})

test('every option has a row that says what it means', () => {
  for (const row of Object.values<AnyOption>(SERVER_OPTIONS)) {
    expect(row.meaning).toMatch(/^\S.+[^.]$/)
    expect(defaultText(row)).not.toBe('')
  }
})

test('a relative file name means the folder of the call, whatever the process changes to', () => {
  const here = (name: string): string => join(process.cwd(), name)
  const sni = [{ certFile: 'b.crt', keyFile: 'b.key' }]
  const { reportFile, journal, debugSocket, listeners } = resolveServerOptions(
    {
      reportFile: './report.json',
      journal: '/run/../run/journal',
      debugSocket: 'debug.sock',
      listeners: [{ port: 1, tls: { certFile: 'a.crt', keyFile: 'a.key', clientCaFile: 'ca.crt', sni } }],
    },
    { facts: nowhere },
  )
  expect([reportFile, journal, debugSocket]).toEqual([here('report.json'), '/run/journal', 'debug.sock'])
  expect(listeners[0]?.tls).toMatchObject({
    certFile: here('a.crt'),
    keyFile: here('a.key'),
    clientCaFile: here('ca.crt'),
    sni: [{ certFile: here('b.crt'), keyFile: here('b.key') }],
  })
  const kind = file('a file name, or -', '-')
  expect([kind.resolve('-'), kind.resolve('x')]).toEqual(['-', here('x')])
})
