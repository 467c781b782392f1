import { describe, expect, test } from 'vitest'
import { RUN_FLAGS, readRunSettings, readSettings, SERVE_FLAGS, type ServeSettings } from '#src/cli/flags.ts'
import type { SettingsSources } from '#src/cli/serving.ts'
import { type AnyOption, envName, type OptionTable } from '#src/options/kit/define.ts'
import { SERVER_OPTIONS } from '#src/options/rows/lifecycle.ts'
import { TLS_OPTIONS } from '#src/options/rows/tls.ts'

const nowhere = { env: {}, pid: 4711, terminal: false, containerFile: false }

interface Said {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly config?: unknown
}

const read = ({ args = [], env = {}, config = {} }: Said) => {
  const sources: SettingsSources = {
    args,
    env,
    facts: nowhere,
    readConfig: (path) => (path === 'c.json' ? Promise.resolve(config) : Promise.reject(new Error('ENOENT'))),
  }
  return readSettings(sources)
}

async function settingsOf(said: Said): Promise<ServeSettings> {
  const settings = await read(said)
  if ('problems' in settings) throw new Error(settings.problems.join('\n'))
  return settings
}

async function problemsOf(said: Said): Promise<readonly string[]> {
  const settings = await read(said)
  return 'problems' in settings ? settings.problems : []
}

describe('settings of quiesce serve', () => {
  test('are upstream’s defaults when nobody says anything', async () => {
    const { options, logLevel } = await settingsOf({})
    expect({ options, logLevel }).toEqual({
      options: { host: '127.0.0.1', shutdownDelay: '0s' },
      logLevel: 'info',
    })
  })

  test('can all be given as flags', async () => {
    const args = [
      '--bind-address=::1',
      '--port',
      '0',
      '--shutdown-delay-duration',
      '1s',
      '--shutdown-send-retry-after',
      '--shutdown-watch-termination-grace-period=2s',
      '--request-timeout=30s',
      '--goaway-chance=0.001',
      '--livez-grace-period=10s',
      '--connection-timeout=3s',
      '--deadline=20s',
      '--crash-deadline=4s',
      '--kill-after=1h',
      '--request-drain-timeout=10s',
      '--notify-clients=after-delay',
      '--last-call=50ms',
      '--behind=alb',
      '--debug-socket-path=d.sock',
      '--admin-address=[::1]:9090',
      '--http2',
      '--http2-max-streams-per-connection=250',
      '--max-header-size=65536',
      '--tls-cert-file=tls.crt',
      '--tls-private-key-file=tls.key',
      '--tls-private-key-passphrase=secret',
      '--tls-sni-cert-key=a.crt,a.key',
      '--tls-sni-cert-key=b.crt, b.key:*.b.test, 10.0.0.1,::1',
      '--tls-self-signed=false',
      '--client-ca-file=ca.crt',
      '--client-certificates=request',
      '--tls-min-version=VersionTLS13',
      '--tls-wait-for-files',
      '--tls-expiry-warning=3d',
      '--tls-expiry-unready=1h',
      '--inspector',
      '--inspector-address=127.0.0.1:9091',
      '--inspector-token=0123456789abcdef',
      '--journal=j.ndjson',
      '--report-file=r.json',
      '--log-level=debug',
      '--pretty',
      '--wording=plain',
    ]
    const { wording: _, demo, ...settings } = await settingsOf({ args })
    expect(demo).toBe(false)
    expect(settings).toEqual({
      options: {
        host: '::1',
        port: 0,
        shutdownDelay: '1s',
        whileDraining: 'retry-after',
        watchGrace: '2s',
        requestTimeout: '30s',
        goawayChance: 0.001,
        livezGrace: '10s',
        connectionTimeout: '3s',
        deadline: '20s',
        crashDeadline: '4s',
        killAfter: '1h',
        requestDrainTimeout: '10s',
        notifyClients: 'after-delay',
        lastCall: '50ms',
        behind: 'alb',
        debugSocket: 'd.sock',
        admin: { host: '::1', port: 9_090 },
        http2: true,
        maxConcurrentStreams: 250,
        maxHeaderSize: 65_536,
        tls: {
          certFile: 'tls.crt',
          keyFile: 'tls.key',
          passphrase: 'secret',
          sni: [
            { certFile: 'a.crt', keyFile: 'a.key' },
            { certFile: 'b.crt', keyFile: 'b.key', names: ['*.b.test', '10.0.0.1', '::1'] },
          ],
          clientCaFile: 'ca.crt',
          clientCertificates: 'request',
          minVersion: 'TLSv1.3',
          waitForFiles: true,
          expiryWarning: '3d',
          expiryUnready: '1h',
        },
        inspector: { host: '127.0.0.1', port: 9091, token: '0123456789abcdef' },
        journal: 'j.ndjson',
        reportFile: 'r.json',
        pretty: true,
        wording: {},
      },
      logLevel: 'debug',
    })
    const given = new Set(args.map((arg) => arg.split('=')[0]))
    expect(SERVE_FLAGS.filter(({ name }) => !given.has(`--${name}`)).map(({ name }) => name)).toEqual(['demo', 'config'])
  })

  test('have times of the demonstration only where it was asked for, and nothing else was said', async () => {
    const times = { shutdownDelay: '3s', watchGrace: '3s', lastCall: '300ms', deadline: '9800ms' }
    expect(await settingsOf({ args: ['--demo'] })).toMatchObject({ demo: true, options: times })
    expect(await settingsOf({ args: ['--demo', '--shutdown-delay-duration=1s'] })).toMatchObject({
      options: { ...times, shutdownDelay: '1s' },
    })
    for (const args of [[], ['--no-demo'], ['--demo=false'], ['--demo', '--deadline=2s']])
      expect((await settingsOf({ args })).options).not.toHaveProperty('watchGrace')
  })

  test('take words by name, and in a file words of one’s own', async () => {
    expect((await settingsOf({ args: ['--wording=plain'] })).options).toMatchObject({ wording: {} })
    const config = { wording: { name: 'orders' } }
    expect((await settingsOf({ args: ['--config=c.json'], config })).options).toMatchObject(config)
    expect(await problemsOf({ args: ['--wording=kubernetes'] })).toEqual([
      '--wording: got "kubernetes", allowed: plain, or upstream where @quiesce/apiserver is installed',
    ])
  })

  test('prefer the flag to the environment to the file to the default', async () => {
    const config = { port: 1, 'request-timeout': 1_000, 'livez-grace-period': '1s' }
    const env = { QUIESCE_CONFIG: 'c.json', QUIESCE_PORT: '2', QUIESCE_REQUEST_TIMEOUT: '2s' }
    expect((await settingsOf({ args: ['--port=3'], env, config })).options).toMatchObject({
      port: 3,
      requestTimeout: '2s',
      livezGrace: '1s',
      host: '127.0.0.1',
    })
    expect((await settingsOf({ args: ['--config=c.json'], env: { QUIESCE_CONFIG: 'other.json' }, config })).options).toMatchObject({
      port: 1,
    })
  })

  test('are switched on and off in every way', async () => {
    for (const said of [
      { args: ['--pretty'] },
      { args: ['--pretty=true'] },
      { args: ['--pretty', 'true'] },
      { args: ['--no-pretty', '--pretty'] },
      { env: { QUIESCE_PRETTY: 'true' } },
      { args: ['--config=c.json'], config: { pretty: true } },
    ]) {
      expect((await settingsOf(said)).options.pretty, JSON.stringify(said)).toBe(true)
    }
    for (const said of [
      { args: ['--pretty=false'], env: { QUIESCE_PRETTY: 'true' } },
      { args: ['--config=c.json'], config: { pretty: false } },
      { args: ['--no-pretty'], env: { QUIESCE_PRETTY: 'true' } },
      { args: ['--pretty', 'false'] },
      { args: ['--pretty', '--no-pretty'] },
    ]) {
      expect((await settingsOf(said)).options.pretty, JSON.stringify(said)).toBe(false)
    }
    expect((await settingsOf({ env: { QUIESCE_SHUTDOWN_SEND_RETRY_AFTER: 'false' } })).options.whileDraining).toBe('refuse')
  })

  test('take an IPv6 address with and without brackets', async () => {
    for (const address of ['::1', '[::1]']) expect((await settingsOf({ args: ['--bind-address', address] })).options.host).toBe('::1')
    expect((await settingsOf({ args: ['--bind-address=[x]'] })).options.host).toBe('[x]')
  })

  test('turn the inspector on, where it is wanted', async () => {
    const inspectorOf = async (said: Said) => (await settingsOf(said)).options.inspector
    expect(await inspectorOf({})).toBeUndefined()
    expect(await inspectorOf({ args: ['--inspector'] })).toEqual({})
    expect(await inspectorOf({ args: ['--inspector-address=[::1]:9', '--inspector-token=0123456789abcdef'] })).toEqual({
      host: '::1',
      port: 9,
      token: '0123456789abcdef',
    })
    expect(await inspectorOf({ args: ['--no-inspector', '--inspector-address=[::1]:9'] })).toBeUndefined()
    expect(await problemsOf({ args: ['--inspector-address=9'] })).toEqual([
      '--inspector-address: got "9", allowed: HOST:PORT with a port from 0 to 65535',
    ])
    // A token that could not be used is refused also while the inspector is off.
    for (const args of [
      ['--inspector', '--inspector-token=short'],
      ['--inspector-token=short'],
      ['--no-inspector', '--inspector-token=short'],
    ]) {
      expect(await problemsOf({ args })).toEqual([
        '--inspector-token: got a text of 5 characters, allowed: at least 16 letters, digits and -._~+/=',
      ])
    }
  })

  test('keep the last of a flag given twice', async () => {
    expect((await settingsOf({ args: ['--port=1', '--port=2'] })).options.port).toBe(2)
  })

  test('do not mind what Kubernetes sets for a Service named quiesce', async () => {
    const env = {
      QUIESCE_SERVICE_HOST: '10.0.0.7',
      QUIESCE_SERVICE_PORT: '80',
      QUIESCE_SERVICE_PORT_HTTP: '80',
      QUIESCE_PORT: 'tcp://10.0.0.7:80',
      QUIESCE_PORT_80_TCP: 'tcp://10.0.0.7:80',
      QUIESCE_PORT_80_TCP_PROTO: 'tcp',
      QUIESCE_PORT_80_TCP_PORT: '80',
      QUIESCE_PORT_80_TCP_ADDR: '10.0.0.7',
      QUIESCE_CANARY_PORT: 'tcp://10.0.0.8:80',
    }
    expect((await settingsOf({ env })).options.port).toBeUndefined()
  })
})

describe('settings of quiesce run', () => {
  const sources = (args: readonly string[], env = {}): SettingsSources => ({
    args,
    env,
    facts: nowhere,
    readConfig: () => Promise.resolve({}),
  })

  test('are the defaults of code, not upstream’s', async () => {
    expect(await readRunSettings(sources(['app.mjs']))).toMatchObject({
      app: 'app.mjs',
      options: {},
      export: 'default',
      watch: false,
      serverSettings: [],
    })
    const delay = RUN_FLAGS.find(({ name }) => name === 'shutdown-delay-duration')
    expect(delay?.default).not.toBe(SERVE_FLAGS.find(({ name }) => name === 'shutdown-delay-duration')?.default)
  })

  test('know every flag of serve, and which of them belong to a server', async () => {
    const names = RUN_FLAGS.map(({ name }) => name)
    expect(SERVE_FLAGS.flatMap(({ name }) => (names.includes(name) ? [] : [name]))).toEqual(['demo'])
    const settings = await readRunSettings(sources(['--watch', 'app.mjs', '--export=api'], { QUIESCE_PORT: '3000' }))
    expect(settings).toMatchObject({ watch: true, export: 'api', options: { port: 3000 }, serverSettings: [{ label: 'QUIESCE_PORT' }] })
  })

  test('need a module', async () => {
    expect(await readRunSettings(sources([]))).toEqual({ problems: [expect.stringMatching(/^run: no module was given, allowed: /)] })
  })
})

describe('what cannot be used', () => {
  test('is listed whole: one line each, naming what was written, its value and what is allowed', async () => {
    const args = [
      '--port=99999',
      '--deadline',
      '1x',
      '--admin-address=9090',
      '--log-level=loud',
      '--pretty=maybe',
      '--notify-clients=after-delay',
      'x',
      '--prot=1',
    ]
    expect(await problemsOf({ args, env: { QUIESCE_REQUEST_TIMEOUT: '-2m' } })).toEqual([
      '"x": unexpected argument, see quiesce serve --help',
      '--prot: unknown flag (did you mean "--port"?)',
      '--admin-address: got "9090", allowed: HOST:PORT with a port from 0 to 65535',
      '--pretty: got "maybe", allowed: true, false',
      '--port: got 99999, allowed: an integer from 0 to 65535; 0 is any free port',
      '--deadline: got "1x", allowed: a duration like 500ms, 5s, 1m30s (units ns, us, ms, s, m, h, d); 100ms to 24d',
      'QUIESCE_REQUEST_TIMEOUT: got "-2m", allowed: a duration like 500ms, 5s, 1m30s (units ns, us, ms, s, m, h, d); 0 to 24d (--request-timeout can not be negative value)',
      '--notify-clients: got "after-delay", allowed: only with --shutdown-send-retry-after: after-delay is for the mode retry-after, in which clients are still answered after the delay',
      '--log-level: got "loud", allowed: debug, info, warn, error, silent',
    ])
  })

  test.each(SERVE_FLAGS.filter(({ kind }) => kind !== 'text').map(({ name }) => name))('--%s, by every way', async (name) => {
    const label = (where: string) => expect.stringMatching(new RegExp(`^${where}: got ".", allowed: .`))
    expect(await problemsOf({ args: [`--${name}=?`] })).toEqual([label(`--${name}`)])
    expect(await problemsOf({ env: { [envName(name)]: '?' } })).toEqual([label(envName(name))])
    expect(await problemsOf({ args: ['--config=c.json'], config: { [name]: '?' } })).toEqual([label(`${name} in c.json`)])
  })

  test('includes values that are missing or empty', async () => {
    expect(await problemsOf({ args: ['--bind-address', '--port', 'x', '--notify-clients'] })).toEqual([
      '--bind-address: no value was given, allowed: a host name or an IP address',
      '--notify-clients: no value was given, allowed: gradual, at-once, after-delay',
      '--port: got "x", allowed: an integer from 0 to 65535; 0 is any free port',
    ])
    expect(await problemsOf({ args: ['--port='], env: { QUIESCE_REPORT_FILE: '' } })).toEqual([
      '--port: got "", allowed: an integer from 0 to 65535; 0 is any free port',
      'QUIESCE_REPORT_FILE: got "", allowed: a file name',
    ])
  })

  test('includes numbers that only look like one', async () => {
    for (const port of ['1e3', '0x50', '-1', ' 80', '8080.5']) expect(await problemsOf({ args: [`--port=${port}`] })).toHaveLength(1)
    expect(await problemsOf({ args: ['--admin-address=localhost:70000'] })).toHaveLength(1)
    expect(await problemsOf({ args: ['--deadline=5'] })).toHaveLength(1)
  })

  test('includes unknown flags, variables and keys', async () => {
    const said = {
      args: ['--foo', 'bar', '-p', '--config=c.json'],
      env: { QUIESCE_PROT: '1' },
      config: { shutdownDelay: '5s', config: 'd.json', foo: 1 },
    }
    expect(await problemsOf(said)).toEqual([
      '--foo: unknown flag, see quiesce serve --help',
      '-p: unknown flag (did you mean "--port"?)',
      'QUIESCE_PROT: unknown environment variable (did you mean "QUIESCE_PORT"?)',
      'shutdownDelay in c.json: unknown key (did you mean "shutdown-delay-duration"?)',
      'config in c.json: unknown key, see quiesce serve --help',
      'foo in c.json: unknown key, see quiesce serve --help',
    ])
  })

  test.each([
    ['--shutdownDelay', '"--shutdown-delay-duration"'],
    ['--shutdown-delay', '"--shutdown-delay-duration"'],
    ['--watchGrace=1s', '"--shutdown-watch-termination-grace-period"'],
    ['--requestTimeout', '"--request-timeout"'],
    ['--request_timeout', '"--request-timeout"'],
    ['--shutdown', '"--shutdown-delay-duration", "--shutdown-send-retry-after", "--shutdown-watch-termination-grace-period"'],
    ['--deadlien', '"--deadline"'],
    ['-p', '"--port"'],
    ['--host=::1', '"--bind-address"'],
    ['--timeout=5s', '"--deadline"'],
    ['--verbose', '"--log-level"'],
  ])('suggests what is meant by %s', async (written, meant) => {
    expect(await problemsOf({ args: [written] })).toEqual([`${written.split('=')[0]}: unknown flag (did you mean ${meant}?)`])
  })

  test('says once what is read as several flags', async () => {
    expect(await problemsOf({ args: ['-p80'] })).toEqual(['-p: unknown flag (did you mean "--port"?)'])
  })

  test.each([
    ['--notify-clients=gradul', 'gradual'],
    ['--log-level=wran', 'warn'],
  ])('suggests the value that is meant by %s', async (written, meant) => {
    expect(await problemsOf({ args: [written] })).toEqual([expect.stringContaining(`(did you mean "${meant}"?)`)])
  })

  test('suggests nothing for what only begins like a setting', async () => {
    expect(await problemsOf({ env: { QUIESCE_FOO: '1', QUIESCE_BAR: '1' } })).toEqual([
      'QUIESCE_FOO: unknown environment variable, see quiesce serve --help',
      'QUIESCE_BAR: unknown environment variable, see quiesce serve --help',
    ])
  })

  test('includes switches in words that are none, and values of flags that take none', async () => {
    expect(await problemsOf({ args: ['--pretty', 'maybe', '--no-port', '--no-pretty=true'] })).toEqual([
      '"maybe": unexpected argument, see quiesce serve --help',
      expect.stringMatching(/^--no-port: unknown flag/),
      expect.stringMatching(/^--no-pretty: unknown flag/),
    ])
  })

  test('includes a config file that is not there, or holds no settings', async () => {
    expect(await problemsOf({ args: ['--config=d.json'] })).toEqual(['--config: got "d.json", allowed: a JSON or YAML file (ENOENT)'])
    expect(await problemsOf({ env: { QUIESCE_CONFIG: 'c.json' }, config: [] })).toEqual([
      'QUIESCE_CONFIG: got "c.json", allowed: a file with one object (it holds [])',
    ])
  })

  test('includes settings that do not fit each other, wherever they stand', async () => {
    expect(await problemsOf({ args: ['--config=c.json', '--deadline=12s'], config: { 'shutdown-delay-duration': '10s' } })).toEqual([
      'shutdown-delay-duration in c.json: got "10s", allowed: at most 6.375s with --deadline 12s, so that the later phases keep their time; --deadline would have to be at least 15.7s',
    ])
  })
})

describe('flags of certificates', () => {
  test.each<[string, string[]]>([
    ['--tls-private-key-file: got none, allowed: a file name, beside --tls-cert-file', ['--tls-cert-file=a']],
    ['--tls-cert-file: got none, allowed: a file name, beside --tls-private-key-file', ['--tls-private-key-file=a']],
    [
      '--tls-self-signed: got true, allowed: none beside --tls-cert-file',
      ['--tls-self-signed', '--tls-cert-file=a', '--tls-private-key-file=b'],
    ],
    [
      '--client-ca-file: got "a", allowed: only with a certificate: --tls-cert-file with --tls-private-key-file, --tls-sni-cert-key, or --tls-self-signed',
      ['--client-ca-file=a'],
    ],
    [
      '--tls-sni-cert-key: got "a.crt", allowed: CERT,KEY or CERT,KEY:NAME,NAME; several with ; between them, or by several flags',
      ['--tls-sni-cert-key=a.crt'],
    ],
    ['--tls-min-version: got "VersionTLS11", allowed: TLSv1.2, TLSv1.3', ['--tls-min-version=VersionTLS11']],
  ])('that do not fit say so: %s', async (message, args) => {
    expect(await problemsOf({ args })).toEqual([message])
  })

  test('are written in an environment variable and in a config file, too', async () => {
    const sni = [
      { certFile: 'a', keyFile: 'b' },
      { certFile: 'c', keyFile: 'd', names: ['e'] },
    ]
    expect((await settingsOf({ env: { QUIESCE_TLS_SNI_CERT_KEY: 'a,b;c,d:e' } })).options).toMatchObject({ tls: { sni } })
    const config = { 'tls-sni-cert-key': ['a,b', 'c,d:e'], 'tls-self-signed': true }
    expect((await settingsOf({ args: ['--config=c.json'], config })).options).toMatchObject({ tls: { sni, selfSigned: true } })
  })
})

const OF_THE_COMMAND = ['inspector-address', 'inspector-token', 'demo', 'log-level', 'config']

test('every option with a flag is a flag, under upstream’s name where there is one', () => {
  const flagged = (table: OptionTable): AnyOption[] => Object.values<AnyOption>(table).filter((row) => row.flag !== undefined)
  const [flags, ofTls] = [flagged(SERVER_OPTIONS), flagged(TLS_OPTIONS)]
  expect(SERVE_FLAGS.map(({ name }) => name)).toEqual([...[...flags, ...ofTls].map(({ flag }) => flag), ...OF_THE_COMMAND])
  for (const row of [...flags, ...ofTls]) {
    if (row.upstream?.startsWith('--') && row.flag !== 'port') expect(`--${row.flag}`).toBe(row.upstream)
  }
})
