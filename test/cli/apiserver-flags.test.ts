import { describe, expect, test } from 'vitest'
import { API_SERVER_FLAGS, type ApiServerSettings, readApiServerSettings } from '#apiserver/cli/flags.ts'
import { PAGE } from '#apiserver/cli/page.ts'
import { completeConfig } from '#apiserver/config.ts'
import { grouped } from '#src/cli/flag-groups.ts'
import { row } from '../support/row.ts'

interface Said {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly config?: unknown
}

const read = ({ args = [], env = {}, config = {} }: Said) =>
  readApiServerSettings({
    args,
    env,
    facts: { env: {}, pid: 4711, terminal: false, containerFile: false },
    readConfig: (path) => (path === 'c.json' ? Promise.resolve(config) : Promise.reject(new Error('ENOENT'))),
  })

async function settingsOf(said: Said): Promise<ApiServerSettings> {
  const settings = await read(said)
  if ('problems' in settings) throw new Error(settings.problems.join('\n'))
  return settings
}

async function problemsOf(...args: readonly string[]): Promise<readonly string[]> {
  const settings = await read({ args })
  return 'problems' in settings ? settings.problems : []
}

/** Those that upstream's command has as durations. */
const DURATIONS = [
  'request-timeout',
  'livez-grace-period',
  'shutdown-delay-duration',
  'shutdown-watch-termination-grace-period',
  'storage-initialization-timeout',
  'audit-log-batch-max-wait',
  'audit-webhook-batch-max-wait',
  'audit-webhook-initial-backoff',
  'authorization-webhook-cache-authorized-ttl',
  'authorization-webhook-cache-unauthorized-ttl',
]

const said = (...words: readonly string[]) => words.map((word) => expect.stringContaining(word))

const DIRECTIVES = 'allowed: a list of max-age=SECONDS, includeSubDomains, preload'
const HSTS = '--strict-transport-security-directives invalid, allowed values: max-age=expireTime, includeSubDomains, preload. see '
const NOT_PINNED =
  '--cors-allowed-origins has an invalid regular expression: regular expression does not pin to start/end of host in the origin header'

describe('options of an API server', () => {
  row(
    ['OP-01', 'OP-02', 'OP-03', 'OP-04', 'OP-06', 'OP-07', 'OP-11', 'OP-15'],
    'below zero, and out of bounds, are refused in upstream’s words',
    async () => {
      const cases: readonly (readonly [string, string])[] = [
        ['--max-requests-inflight=-400', '--max-requests-inflight can not be negative value'],
        ['--max-mutating-requests-inflight=-200', '--max-mutating-requests-inflight can not be negative value'],
        ['--request-timeout=-2m', '--request-timeout can not be negative value'],
        ['--min-request-timeout=-1800', '--min-request-timeout can not be negative value'],
        ['--min-request-timeout=-30m', '--min-request-timeout can not be negative value'],
        ['--livez-grace-period=-1s', '--livez-grace-period can not be a negative value'],
        ['--shutdown-delay-duration=-1s', '--shutdown-delay-duration can not be negative value'],
        ['--storage-initialization-timeout=-1s', '--storage-initialization-timeout can not be negative value'],
        [
          '--shutdown-watch-termination-grace-period=-1s',
          'shutdown-watch-termination-grace-period, if provided, can not be a negative value',
        ],
        ['--goaway-chance=-0.1', '--goaway-chance can not be less than 0 or greater than 0.02'],
        ['--goaway-chance=0.03', '--goaway-chance can not be less than 0 or greater than 0.02'],
      ]
      for (const [arg, words] of cases) {
        const [flag, given] = arg.split('=')
        expect(await problemsOf(arg)).toEqual([expect.stringMatching(`^${flag}: got "${given}", allowed: .+ \\(${words}\\)$`)])
      }
      // What is no number at all, and what is too much, upstream says nothing about.
      for (const arg of ['--request-timeout=soon', '--request-timeout=99d', '--max-requests-inflight=many', '--goaway-chance=x'])
        expect((await problemsOf(arg))[0]).not.toContain('can not')
    },
  )

  row(['OP-08', 'OP-12', 'OP-13', 'OP-14'], 'as lists have every item looked at', async () => {
    const hsts = (list: string) => problemsOf(`--strict-transport-security-directives=${list}`)
    expect(await hsts('fakevalue')).toEqual(said(`--strict-transport-security-directives[0]: got "fakevalue", ${DIRECTIVES} (${HSTS}`))
    expect(await hsts('max-age=1=2,max-age,preload, ')).toEqual(
      said(
        `[0]: got "max-age=1=2", ${DIRECTIVES} (${HSTS}`,
        `[1]: got "max-age", ${DIRECTIVES} (${HSTS}`,
        `[3]: got " ", ${DIRECTIVES} (empty value in strict-transport-security-directives)`,
      ),
    )
    expect(await hsts('max-age=31536000,includeSubDomains,preload')).toEqual([])
    expect(await hsts('max-age=1\r\nSet-Cookie: a')).toHaveLength(1)
    const cors = (list: string) => problemsOf(`--cors-allowed-origins=${list}`)
    for (const good of ['', '^http://foo.com$', '^http://foo.com', '//foo.com$', '://foo.com(:|$)', '(^foo.com$)'])
      expect(await cors(good)).toEqual([])
    expect(await cors('^http://foo.com$,')).toEqual([
      expect.stringMatching(/^--cors-allowed-origins\[1\]: got "", allowed: .* \(empty value in --cors-allowed-origins\)$/),
    ])
    expect(await cors('^foo.com,//foo.com,foo.com$,foo.com(:|$)')).toEqual(
      ['^foo.com', '//foo.com', 'foo.com$', 'foo.com(:|$)'].map((given, at) =>
        expect.stringMatching(
          `^--cors-allowed-origins\\[${at}\\]: got "${given.replaceAll(/[$^()|]/g, '\\$&')}", allowed: .* \\(${NOT_PINNED}\\)$`,
        ),
      ),
    )
  })

  row(['OP-09', 'OP-10'], 'that are usable, and the defaults, are taken; watches have the grace of the library', async () => {
    const { options } = await settingsOf({})
    expect(options).toEqual({
      port: 6443,
      host: '127.0.0.1',
      tls: { selfSigned: true },
      shutdownDelay: '0s',
    })
    const args = [
      '--max-requests-inflight=400',
      '--max-mutating-requests-inflight=200',
      '--request-timeout=2m',
      '--min-request-timeout=1800',
      '--livez-grace-period=1s',
      '--shutdown-delay-duration=1s',
      '--shutdown-watch-termination-grace-period=2s',
      '--strict-transport-security-directives=max-age=31536000',
      '--strict-transport-security-directives=preload',
      '--cors-allowed-origins=//a.example$,//b.example$',
      '--goaway-chance=0.02',
      '--disable-http2-serving',
      '--http2-max-streams-per-connection=0',
      '--secure-port',
      '8443',
    ]
    const given = (await settingsOf({ args })).options
    expect(given).toMatchObject({
      maxRequestsInFlight: 400,
      minRequestTimeout: '1800s',
      hstsDirectives: ['max-age=31536000', 'preload'],
      corsAllowedOrigins: ['//a.example$', '//b.example$'],
      http2: false,
      maxConcurrentStreams: 100,
      port: 8443,
    })
    expect(completeConfig(given).minRequestTimeoutMs).toBe(1_800_000)
  })

  row('OP-16', 'are refused all at once, wherever they were written, and what they mean for each other too', async () => {
    const settings = await read({
      args: [
        '--max-requests-inflight',
        '-1',
        '--config=c.json',
        '--nope',
        '--notify-clients=after-delay',
        '--tls-cert-file=a.crt',
        'one',
        'two',
      ],
      env: { QUIESCE_MAX_MUTATING_REQUESTS_INFLIGHT: '-2', QUIESCE_PORT: '1' },
      config: { 'request-timeout': -3, 'cors-allowed-origins': ['foo'], 'min-request-timeout': -1800, port: 1 },
    })
    const problems = 'problems' in settings ? settings.problems : []
    const expected = said(
      '--nope: unknown flag',
      'two": unexpected argument',
      'QUIESCE_PORT: unknown environment variable',
      'port in c.json: unknown key (did you mean "secure-port"?)',
      '--max-requests-inflight: got "-1"',
      'QUIESCE_MAX_MUTATING_REQUESTS_INFLIGHT: got "-2"',
      'request-timeout in c.json: got -3',
      'min-request-timeout in c.json: got -1800',
      'cors-allowed-origins[0] in c.json: got ',
      '--tls-private-key-file: got none',
      '--notify-clients: got "after-delay", allowed: only with --shutdown-send-retry-after: after-delay is for the mode retry-after, in which clients are still answered after the delay',
    )
    expect(problems).toEqual(expect.arrayContaining(expected))
    expect(problems).toHaveLength(expected.length)
  })
})

describe('settings of quiesce-apiserver', () => {
  test('have the same names in the environment and in a file, and seconds as upstream’s flag has them', async () => {
    const lists = { 'cors-allowed-origins': ['//a$', '//b$'], 'authorization-mode': ['AlwaysAllow', 'AlwaysDeny'] }
    const config = { 'max-requests-inflight': 7, 'min-request-timeout': 60, 'secure-port': 1, ...lists }
    const env = { QUIESCE_CONFIG: 'c.json', QUIESCE_SECURE_PORT: '2', QUIESCE_CORS_ALLOWED_ORIGINS: '//c$,//d$' }
    const { options } = await settingsOf({ args: ['--secure-port=3'], env, config })
    expect(options).toMatchObject({ maxRequestsInFlight: 7, minRequestTimeout: '60s', port: 3, corsAllowedOrigins: ['//c$', '//d$'] })
    expect(options.authorizationMode).toEqual(['AlwaysAllow', 'AlwaysDeny'])
  })

  test('have a unit in a file where upstream’s durations have one; 0 needs none, and options of ours are as they were', async () => {
    const ofConfig = async (config: object) => {
      const settings = await read({ args: ['--config=c.json'], config })
      return 'problems' in settings ? settings.problems : settings.options
    }
    const names = API_SERVER_FLAGS.filter(({ name }) => DURATIONS.includes(name)).map(({ name }) => name)
    expect(names.toSorted()).toEqual(DURATIONS.toSorted())
    for (const name of DURATIONS) {
      const [problem, ...others] = (await ofConfig({ [name]: 60 })) as readonly string[]
      expect([problem, others]).toEqual([
        expect.stringContaining(`${name} in c.json: got 60, allowed: a duration like 500ms, 5s, 1m30s`),
        [],
      ])
      // Beside it, what the command needs for this option may be missing.
      expect(JSON.stringify(await ofConfig({ [name]: '60s' }))).not.toContain('allowed: a duration')
    }
    expect(await ofConfig({ 'request-timeout': 0, 'min-request-timeout': 1800, 'connection-timeout': 60 })).toMatchObject({
      requestTimeout: 0,
      minRequestTimeout: '1800s',
      connectionTimeout: 60,
    })
  })

  test('may be anything that a file can hold, without a failure of ours', async () => {
    const given: readonly unknown[] = [
      null,
      true,
      -1,
      0.5,
      1e99,
      '',
      ' ',
      'x',
      '0',
      '9'.repeat(400),
      [],
      [null],
      [[]],
      [5],
      ['a'],
      {},
      { toString: 5 },
    ]
    const names = API_SERVER_FLAGS.map(({ name }) => name).filter((name) => name !== 'config')
    for (const value of given) {
      const settings = await read({ args: ['--config=c.json'], config: Object.fromEntries(names.map((name) => [name, value])) })
      for (const problem of 'problems' in settings ? settings.problems : []) {
        const [, name = ''] = /^([\w-]+)\S* in c\.json: ./.exec(problem) ?? /^--([\w-]+): got none, allowed: ./.exec(problem) ?? []
        expect(names, problem).toContain(name)
      }
    }
    for (const config of [{ 'min-request-timeout': [5] }, { 'http2-max-streams-per-connection': [0] }, { 'tls-sni-cert-key': [] }])
      expect(await read({ args: ['--config=c.json'], config })).toMatchObject({ problems: [expect.stringContaining('allowed: ')] })
  })

  test('have a certificate that is made at the start, unless there is one or none is wanted', async () => {
    const tlsOf = async (...args: readonly string[]) => (await settingsOf({ args })).options.tls
    expect(await tlsOf('--tls-min-version=VersionTLS13')).toEqual({ selfSigned: true, minVersion: 'TLSv1.3' })
    expect(await tlsOf('--tls-cert-file=a', '--tls-private-key-file=b')).toEqual({ certFile: 'a', keyFile: 'b' })
    expect(await tlsOf('--tls-sni-cert-key=a,b')).toEqual({ sni: [{ certFile: 'a', keyFile: 'b' }] })
    expect(await tlsOf('--tls-self-signed=false')).toBeUndefined()
  })

  test('mean something for each other, also where an option has flags for its parts alone', async () => {
    const cases: readonly (readonly [string, string])[] = [
      ['--audit-log-maxage=3', '--audit-log-path: got none, allowed: a file name, or - for standard output'],
      ['--audit-webhook-mode=batch', '--audit-webhook-config-file: got none, allowed: a file name'],
      ['--oidc-client-id=x', '--oidc-issuer-url: got none, allowed: a URL of https'],
      ['--authorization-mode=RBAC', '--authorization-rbac-file: got none, allowed: one beside --authorization-mode RBAC'],
      ['--authorization-mode=Webhook', '--authorization-webhook-config-file: got none, allowed: one beside --authorization-mode Webhook'],
    ]
    for (const [arg, words] of cases) expect(await problemsOf(arg), arg).toEqual([words])
    for (const twice of [
      ['--authorization-mode=AlwaysAllow,AlwaysAllow'],
      ['--authorization-mode=AlwaysAllow', '--authorization-mode=AlwaysAllow'],
    ])
      expect(await problemsOf(...twice)).toEqual(['--authorization-mode: got ["AlwaysAllow","AlwaysAllow"], allowed: each mode once'])
  })

  test('lead to the flag that is meant', async () => {
    expect(await problemsOf('--port=1')).toEqual(['--port: unknown flag (did you mean "--secure-port"?)'])
    const absent = await read({
      args: ['--permit-port-sharing', '--cert-dir=here', '--config=c.json'],
      env: { QUIESCE_TLS_CIPHER_SUITES: 'x' },
      config: { 'contention-profiling': true },
    })
    expect(absent).toEqual({
      problems: [
        '--permit-port-sharing: unknown flag; use workers of a cluster, which share a port',
        '--cert-dir: unknown flag; a certificate that the server makes itself is kept in memory only',
        'QUIESCE_TLS_CIPHER_SUITES: unknown environment variable; Node has an option for it: NODE_OPTIONS=--tls-cipher-list=LIST',
        'contention-profiling in c.json: unknown key; Node has no such profile',
      ],
    })
    expect(await problemsOf('--http2')).toEqual(['--http2: unknown flag (did you mean "--disable-http2-serving"?)'])
  })

  test('have a group each, in upstream’s order', () => {
    const { flags, groups = [] } = PAGE
    const titles = grouped(flags, groups).map(([title]) => title)
    expect(titles).toEqual(groups.map(([title]) => title))
    expect(titles.slice(0, 6)).toEqual([
      'Generic flags',
      'Secure serving flags',
      'Auditing flags',
      'Features flags',
      'Authentication flags',
      'Authorization flags',
    ])
    expect(grouped(flags, groups).flatMap(([, those]) => those)).toHaveLength(API_SERVER_FLAGS.length)
  })

  test('are printed as a config file that sets the same, without secrets', async () => {
    const args = [
      '--print-config',
      '--request-timeout=30s',
      '--audit-log-path=a.log',
      '--no-audit-log-compress',
      '--shutdown-send-retry-after',
      '--cors-allowed-origins=//a$,//b$',
      '--tls-cert-file=a.crt',
      '--tls-private-key-file=a.key',
      '--tls-private-key-passphrase=secret',
      '--inspector-token=0123456789abcdef',
    ]
    const { printed = '' } = await settingsOf({ args })
    const config = JSON.parse(printed) as Record<string, unknown>
    expect(config).toMatchObject({
      'secure-port': 6443,
      'max-requests-inflight': 400,
      'request-timeout': '30s',
      'shutdown-send-retry-after': true,
      'audit-log-compress': false,
      'audit-log-mode': 'blocking',
      'log-level': 'info',
    })
    expect(printed).not.toMatch(/secret|0123456789abcdef/)
    // What follows from others or from the platform, and what is off.
    for (const name of ['deadline', 'last-call', 'inspector-address', 'audit-webhook-mode']) expect(config[name]).toBeUndefined()
    const again = await settingsOf({ args: ['--config=c.json', '--print-config'], config })
    expect(again.printed).toBe(printed)
    const defaults = await settingsOf({ args: ['--print-config'] })
    const fromFile = await settingsOf({ args: ['--config=c.json'], config: JSON.parse(defaults.printed ?? '') })
    const shown = ({ options }: ApiServerSettings) => completeConfig(options).toJSON()
    expect(shown(fromFile)).toEqual(shown(await settingsOf({})))
    expect((await settingsOf({})).printed).toBeUndefined()
  })
})
