// Options that need another one. Fails when: one that protects, or would give something away, is
// taken without it; one that has no effect is not warned of, or one that has is; or an option is
// added that says nothing of it; or the words name another option than the one that is missing, or
// a name that the user has not written.
import { describe, expect, test } from 'vitest'
import { readApiServerSettings } from '#apiserver/cli/flags.ts'
import { API_SERVER_TABLE, type ApiServerConfig, completeConfig } from '#apiserver/config.ts'
import { readSettings } from '#src/cli/flags.ts'
import type { AnyOption, OptionTable } from '#src/options/kit/define.ts'
import {
  type LifecycleOptions,
  resolveLifecycleOptions,
  resolveLifeOptions,
  resolveServerOptions,
  type ServerOptions,
} from '#src/options/options.ts'
import { SERVER_OPTIONS } from '#src/options/rows/lifecycle.ts'
import type { PlatformFacts } from '#src/platforms/platform.ts'

const systemFacts: PlatformFacts = { env: {}, pid: 4711, terminal: false, containerFile: false }

const messagesOf = (warnings: readonly { readonly message: string }[]): readonly string[] => warnings.map(({ message }) => message)
const warningsOf = (config: ApiServerConfig): readonly string[] => messagesOf(completeConfig(config).warnings)
const created = (options: ServerOptions): readonly string[] => messagesOf(resolveServerOptions(options, { facts: systemFacts }).warnings)
const attached = (options: LifecycleOptions): readonly string[] =>
  messagesOf(resolveLifecycleOptions(options, { facts: systemFacts }).warnings)
const alone = (options: LifecycleOptions): readonly string[] => messagesOf(resolveLifeOptions(options, { facts: systemFacts }).warnings)

const PROFILING =
  /^enableProfiling: got true, allowed: only with authorizer, authorizationMode, authorizationRbacFile or authorizationWebhook: a heap/

describe('profiles, which have every secret in them,', () => {
  const authorizer = { authorize: () => ({ decision: 'deny' }) as const }

  test.each<ApiServerConfig>([
    {},
    { tokenAuthFile: 'tokens.csv' },
    { anonymousAuth: false },
    { authorizationMode: ['AlwaysAllow'] },
    { authorizer, authorizationMode: ['AlwaysAllow'] },
    { authorizer, authorizationAlwaysAllowPaths: ['/debug/*'] },
    { authorizer, authorizationAlwaysAllowPaths: ['debug/pprof/heap'] },
    { authorizer, authorizationAlwaysAllowPaths: ['*'] },
  ])('are refused with %j', (config) => {
    expect(() => completeConfig({ ...config, enableProfiling: true })).toThrow(PROFILING)
    expect(() => completeConfig({ ...config, enableProfiling: false })).not.toThrow()
  })

  test.each<ApiServerConfig>([
    { authorizer },
    { authorizationMode: ['AlwaysDeny'] },
    { authorizationRbacFile: 'roles.yaml' },
    { authorizer, authorizationAlwaysAllowPaths: ['/healthz', '/metrics', '/debug'] },
  ])('are served with %j', (config) => {
    expect(completeConfig({ ...config, enableProfiling: true }).enableProfiling).toBe(true)
  })

  test('are refused at the command line in its words', async () => {
    const read = await readApiServerSettings({
      args: ['--profiling', '--token-auth-file=t.csv'],
      env: {},
      facts: systemFacts,
      readConfig: () => Promise.reject(new Error('no file')),
    })
    expect(read).toEqual({
      problems: [
        expect.stringMatching(
          /^--profiling: got true, allowed: only with --authorization-mode, --authorization-rbac-file or --authorization-webhook-config-file: a heap/,
        ),
      ],
    })
  })
})

test('certificates of clients that are not asked for any are refused, wherever they stand', () => {
  const tls = { selfSigned: true, clientCertificates: 'require' } as const
  const words = 'tls.clientCertificates: got "require", allowed: only with clientCa or clientCaFile: without it no client is asked'
  expect(() => created({ tls })).toThrow(words)
  expect(() => created({ listeners: [{ port: 1, tls }] })).toThrow(`listeners[0].${words}`)
  expect(created({ tls: { ...tls, clientCaFile: 'ca.crt' } })).toEqual([])
})

test.each<[string, readonly string[], readonly string[]]>([
  [
    'auditPolicy',
    warningsOf({ auditPolicy: { rules: [{ level: 'Metadata' }] } }),
    ['auditPolicy has no effect without auditLog, auditWebhook or audit: '],
  ],
  ['auditPolicyFile', warningsOf({ auditPolicyFile: 'p' }), ['auditPolicyFile has no effect without auditLog, ']],
  ['auditLog', warningsOf({ auditLog: { path: '-' } }), ['auditLog has no effect without auditPolicy or auditPolicyFile: ']],
  ['both', warningsOf({ auditPolicyFile: 'p', auditLog: { path: 'a' } }), []],
  [
    'fields of auditLog',
    warningsOf({
      auditPolicyFile: 'p',
      auditLog: { path: 'a', bufferSize: 5, throttleQps: 5, truncateMaxEventSize: 5, maxSize: 0, maxBackups: 2, compress: true },
    }),
    ['auditLog.bufferSize ', 'auditLog.throttleQps ', 'auditLog.truncateMaxEventSize ', 'auditLog.maxBackups ', 'auditLog.compress '],
  ],
  [
    'in the mode batch',
    warningsOf({ auditPolicyFile: 'p', auditLog: { path: 'a', mode: 'batch', bufferSize: 5, throttle: true, throttleQps: 5 } }),
    [],
  ],
  ['of a webhook', warningsOf({ auditPolicyFile: 'p', auditWebhook: { url: 'http://a/', bufferSize: 5, throttleQps: 5 } }), []],
  [
    'authorizationAlwaysAllowPaths',
    warningsOf({ authorizationAlwaysAllowPaths: ['/x'] }),
    ['authorizationAlwaysAllowPaths has no effect without authorizer'],
  ],
  [
    'apiAudiences',
    warningsOf({ apiAudiences: ['a'] }),
    ['apiAudiences has no effect without authenticators, tokenAuthFile, oidc, authenticationWebhook, requestHeader or tls'],
  ],
  ['maxConcurrentStreams', created({ maxConcurrentStreams: 5 }), ['maxConcurrentStreams has no effect without http2, tls or listeners']],
  ['with HTTP/2', created({ maxConcurrentStreams: 5, http2: true }), []],
  ['with TLS', created({ streamBuffer: 20_000, listeners: [{ port: 1 }, { port: 2, tls: 'self-signed' }] }), []],
  [
    'waitForFiles',
    created({ tls: { selfSigned: true, waitForFiles: true } }),
    ['tls.waitForFiles has no effect without tls.certFile, tls.sni or tls.clientCaFile'],
  ],
  [
    'health, of a life without a listener',
    alone({ health: true, metrics: true }),
    ['health has no effect without admin', 'metrics has no effect without admin'],
  ],
  ['with one', alone({ health: true, admin: { port: 0 } }), []],
  ['livezGrace', attached({ livezGrace: '1s' }), ['livezGrace has no effect without health']],
  ['admin', attached({ admin: { port: 0 } }), ['admin has no effect without health: it answers metrics and no health']],
  ['admin, of a server', created({ admin: { port: 0 }, livezGrace: '1s' }), []],
  [
    'hookTimeout',
    created({ deadline: '2s', hookTimeout: '5s' }),
    ['hookTimeout 5s has no effect: the whole stop has deadline 2s, which comes before'],
  ],
  ['within the deadline', created({ deadline: '20s', hookTimeout: '5s', requestDrainTimeout: '3s' }), []],
  ['requestDrainTimeout', attached({ deadline: '2s', requestDrainTimeout: '1m' }), ['requestDrainTimeout 1m0s has no effect']],
])('what has no effect is a warning: %s', (_, warnings, expected) => {
  expect(warnings).toEqual(expected.map((beginning) => expect.stringMatching(new RegExp(`^${beginning.replace(/[.[\]/]/g, '\\$&')}`))))
})

test.each([
  [['--tls-min-version=TLSv1.3'], '--tls-min-version: got "TLSv1.3", allowed: only with --tls-cert-file'],
  [['--client-certificates=require'], '--client-certificates: got "require", allowed: only with --tls-cert-file'],
])('a flag that says how, of what is not on, is refused: %j', async (args, words) => {
  const read = await readSettings({ args, env: {}, facts: systemFacts, readConfig: () => Promise.reject(new Error('no file')) })
  expect(read).toEqual({ problems: [expect.stringContaining(words)] })
})

/** Rows and fields that need something, by their tables. */
function needing(table: OptionTable): readonly (readonly [OptionTable, AnyOption])[] {
  return Object.values(table).flatMap((row) => [...(row.needs ? [[table, row] as const] : []), ...(row.fields ? needing(row.fields) : [])])
}

test('what is needed is there', () => {
  for (const table of [API_SERVER_TABLE, SERVER_OPTIONS] as readonly OptionTable[])
    for (const [own, { needs }] of needing(table)) {
      // Some rows stand in a table without what they need, and are composed with it.
      const known = new Set([...Object.keys(own), ...Object.keys(API_SERVER_TABLE), ...Object.keys(SERVER_OPTIONS)])
      expect(needs?.anyOf.filter((name) => !known.has(name))).toEqual([])
    }
})

/** Whatever else is given. Times within the stop are compared with its deadline: times.ts. */
const ALWAYS_WITH_EFFECT =
  'port host tls http2 listeners keepAliveTimeout websocket headersTimeout maxHeaderSize serverOptions platform behind shutdownDelay lastCall whileDraining watchGrace deadline killAfter crashDeadline requestDrainTimeout connectionTimeout goawayChance requestTimeout hookTimeout destroyOrder reserves longRunning exempt steps debugSocket inspector inspect journal audit logger pretty reportFile exit signals signal disabledPostStartHooks wording'.split(
    ' ',
  )

test('every option says without what it has no effect, or always has one', () => {
  const silent = Object.entries<AnyOption>(SERVER_OPTIONS).flatMap(([name, { needs }]) => (needs === undefined ? [name] : []))
  expect(silent.toSorted()).toEqual(ALWAYS_WITH_EFFECT.toSorted())
})
