// Fails when: a default, a bound or a flag does not follow from the row of its option, or a table
// of another package does not work as ours do.
import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Duration } from '#src/base/duration.ts'
import type { QuiesceError } from '#src/base/errors.ts'
import { flagsHelp } from '#src/cli/page-help.ts'
import { readOptions } from '#src/cli/settings.ts'
import { composeOptions, defineOptions, option, resolveOptions } from '#src/options/kit/define.ts'
import { flagsOf } from '#src/options/kit/flags.ts'
import { choice, duration, text } from '#src/options/kit/kinds.ts'
import { markdownOf } from '#src/options/kit/markdown.ts'
import { Problems } from '#src/options/kit/problems.ts'
import type { ResolvedOptions, ServerOptions } from '#src/options/options.ts'
import { LIFECYCLE_OPTIONS, SERVER_OPTIONS } from '#src/options/rows/lifecycle.ts'
import { ALL_OPTIONS, STORE_OPTIONS, type StoreOptions } from './made-up-package.ts'

const problemsOf = (table: Parameters<typeof flagsOf>[0], given: object): string[] => {
  const problems = new Problems(table)
  problems.checkEach(given)
  try {
    problems.throwIfAny()
    return []
  } catch (thrown) {
    return (thrown as QuiesceError).message.split('\n')
  }
}

const read = (...args: readonly string[]) => readOptions('serve', ALL_OPTIONS, args).options

describe('a default that is changed in its row', () => {
  const changed = { ...LIFECYCLE_OPTIONS, keepLonger: option(duration(), { flag: 'keep-longer', default: '90s', meaning: 'Keep longer' }) }

  test.each(['90s', '17s'] as const)('is %s for code, in the help and in the documentation', (value) => {
    const table = defineOptions({ ...changed, keepLonger: { ...changed.keepLonger, default: value } })
    expect(resolveOptions(table, {}).keepLongerMs).toBe(Number.parseInt(value, 10) * 1_000)
    expect(flagsHelp(flagsOf(table))).toMatch(
      new RegExp(`--keep-longer DURATION\\n +Keep longer\\.\\n +Allowed: .+\\sDefault:\\s+${value}\\.`),
    )
    expect(markdownOf(table)).toMatch(new RegExp(`^\\| \`keepLonger\` .* \\| ${value} \\| \`--keep-longer\` \\|`, 'm'))
  })

  test('is what its own row allows', () => {
    expect(() => defineOptions({ port: { ...SERVER_OPTIONS.port, default: 70_000 } })).toThrow(
      'default of port: got 70000, allowed: an integer from 0 to 65535; 0 is any free port',
    )
  })
})

describe('a table of another package', () => {
  test('gives types', () => {
    expectTypeOf<StoreOptions>().toEqualTypeOf<{
      readonly compactAfter?: Duration | undefined
      readonly writes?: 'buffered' | 'synced' | undefined
      readonly storeTls?: boolean | { readonly key?: string | undefined; readonly handshake?: Duration | undefined } | undefined
    }>()
    const resolved = resolveOptions(STORE_OPTIONS, {})
    expectTypeOf(resolved.compactAfterMs).toEqualTypeOf<number>()
    expectTypeOf(resolved.writes).toEqualTypeOf<'buffered' | 'synced'>()
    expectTypeOf(resolved.storeTls).toEqualTypeOf<{ readonly key: string | undefined; readonly handshakeMs: number } | undefined>()
  })

  test('is completed, its objects too, by the place', () => {
    expect(resolveOptions(STORE_OPTIONS, {})).toEqual({ compactAfterMs: 60_000, writes: 'buffered', storeTls: undefined })
    expect(resolveOptions(STORE_OPTIONS, { storeTls: true }, ['kubernetes'])).toEqual({
      compactAfterMs: 300_000,
      writes: 'buffered',
      storeTls: { key: undefined, handshakeMs: 10_000 },
    })
    expect(resolveOptions(STORE_OPTIONS, {}, ['kubernetes', 'terminal'])).toMatchObject({ compactAfterMs: 0 })
  })

  test('says in the documentation where a default is another one', () => {
    expect(markdownOf(STORE_OPTIONS)).toContain('| 5m on Kubernetes, else 1m; 0s after Ctrl-C on a terminal | `--compact-after` |')
  })

  test('refuses in the same words, all at once, with the field of an object', () => {
    expect(problemsOf(ALL_OPTIONS, { port: -1, compactAfter: 'x', storeTls: { handshake: -1 }, writs: 1 })).toEqual([
      'port: got -1, allowed: an integer from 0 to 65535; 0 is any free port',
      'compactAfter: got "x", allowed: milliseconds as a number, or text like 500ms, 5s, 1m30s (units ns, us, ms, s, m, h, d); 0 to 24d',
      expect.stringMatching(/^storeTls\.handshake: got -1, allowed: milliseconds/),
      'writs: unknown option (did you mean "writes"?)',
    ])
  })

  test('brings its flags, beside those of the server', () => {
    expect(read('--port=1', '--compact-after=3s', '--sync-writes')).toMatchObject({ port: 1, compactAfterMs: 3_000, writes: 'synced' })
    expect(read('--no-sync-writes')).toMatchObject({ writes: 'buffered', whileDraining: 'refuse' })
    expect(() => read('--sync-writes=natural')).toThrow('--sync-writes: got "natural", allowed: true, false')
    expect(flagsHelp(flagsOf(ALL_OPTIONS))).toContain('--sync-writes\n      Sync every write.\n      Allowed: true, false. Default: false.')
  })

  test('has flags for the fields of an object, which turn it on or do not', () => {
    expect(read('--store-tls').storeTls).toEqual({ key: undefined, handshakeMs: 10_000 })
    expect(read('--store-tls-handshake=1s', '--store-tls-key=k.pem').storeTls).toEqual({ key: 'k.pem', handshakeMs: 1_000 })
    expect(() => read('--store-tls-key=k.pem')).toThrow(
      '--store-tls-key: got "k.pem", allowed: only with --store-tls or --store-tls-handshake',
    )
    expect(read('--no-store-tls', '--store-tls-handshake=1s').storeTls).toBeUndefined()
    expect(() => read('--store-tls-handshake=x')).toThrow('--store-tls-handshake: got "x", allowed: a duration like')
  })

  test('names its environment variables, by the flag or by itself', () => {
    expect(flagsOf(STORE_OPTIONS).map(({ env }) => env)).toEqual([
      'STORE_COMPACT_AFTER',
      'QUIESCE_SYNC_WRITES',
      'QUIESCE_STORE_TLS',
      'QUIESCE_STORE_TLS_KEY',
      'QUIESCE_STORE_TLS_HANDSHAKE',
    ])
  })

  test('cannot take names that are taken', () => {
    const notifyClients = option(text('a name'), { defaultWords: 'none', meaning: 'x' })
    expect(() => composeOptions(SERVER_OPTIONS, { notifyClients })).toThrow(
      expect.objectContaining({ code: 'ERR_DUPLICATE', message: expect.stringContaining('option notifyClients') }),
    )
    const other = option(choice('a', 'b'), { flag: 'notify-clients', default: 'a', meaning: 'x' })
    expect(() => composeOptions(SERVER_OPTIONS, { other })).toThrow('flag notify-clients: two options have it')
    const hidden = option(choice('a', 'b'), { flag: 'other', env: 'QUIESCE_NOTIFY_CLIENTS', default: 'a', meaning: 'x' })
    expect(() => composeOptions(SERVER_OPTIONS, { hidden })).toThrow('environment variable QUIESCE_NOTIFY_CLIENTS: two options have it')
  })
})

test('the types of our own options are as narrow as their rows', () => {
  expectTypeOf<ServerOptions['livezGrace']>().toEqualTypeOf<Duration | undefined>()
  expectTypeOf<ServerOptions['notifyClients']>().toEqualTypeOf<'gradual' | 'at-once' | 'after-delay' | undefined>()
  expectTypeOf<ServerOptions['admin']>().toExtend<{ readonly port: number | string; readonly host?: string | undefined } | undefined>()
  expectTypeOf<ResolvedOptions['livezGraceMs']>().toEqualTypeOf<number>()
  expectTypeOf<ResolvedOptions['requestDrainTimeoutMs']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<ResolvedOptions['reservesMs']>().toEqualTypeOf<{
    readonly connections: number
    readonly audit: number
    readonly destroy: number
    readonly flush: number
  }>()
  expectTypeOf<ResolvedOptions['inspector']>().toEqualTypeOf<
    | {
        readonly port: number
        readonly host: string
        readonly token: string | undefined
        readonly actions: boolean
        readonly drill: (() => unknown) | undefined
      }
    | undefined
  >()
  // @ts-expect-error a port is a number, or its digits
  const wrong: ServerOptions = { port: true }
  expect(wrong).toBeDefined()
})
