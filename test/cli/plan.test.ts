// Fails when: `quiesce plan` prints other times than those that the life would get, or does not
// name bad input in one line.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Life } from '#src/lifecycle/life.ts'
import { planOf } from '#src/model/life/lifecycle-model.ts'
import type { ServerOptions } from '#src/options/options.ts'
import { folderOfTheseTests, runCommand, runCommandIn } from '../support/run-cli.ts'

const folder = folderOfTheseTests()
const run = (...args: readonly string[]) => runCommand('plan', ...args)

async function lifeModule(name: string, options: ServerOptions, register = ''): Promise<string> {
  const path = join(folder, name)
  const index = pathToFileURL(join(import.meta.dirname, '../../src/index.ts')).href
  await writeFile(
    path,
    `import { createServer } from ${JSON.stringify(index)}
const server = createServer({ listener: () => {} }, ${JSON.stringify(options)})
${register}
export default server
`,
  )
  return path
}

describe('quiesce plan', () => {
  test('prints until when requests have time, for every kind of stop', async () => {
    const config = await lifeModule('container.mjs', { platform: 'container' })
    const { code, out, err } = await run('--config', config)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.split('\n', 1)[0]).toBe(`plan of ${config}`)
    expect(out).toMatch(/^platform container \(given\), while draining: refuse, notify-clients: gradual\n/m)
    expect(out).toMatch(/^ {2}requests have until +\+7\.248s +\+1\.\d+s +\+4\.\d+s$/m)
    expect(out).toMatch(/^ {2}last call +300ms +0ms +\d+ms$/m)
    expect(out).toMatch(/^ {2}Forced +\+8s +\+2s +\+5s +the deadline is reached/m)
    expect(out).toMatch(/^ {2}deadline +8s +platform container$/m)
    expect(out).toMatch(/^ {2}request drain +none: as long as the whole stop has$/m)
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(110)
  })

  test('its numbers are those of the plan that the life is composed from', async () => {
    const options: ServerOptions = {
      platform: 'kubernetes',
      deadline: '40s',
      shutdownDelay: '2s',
      requestDrainTimeout: '12s',
      connectionTimeout: '3s',
      reserves: { destroy: '15s' },
    }
    const config = await lifeModule(
      'own.mjs',
      options,
      `server.addPreShutdownHook('leave', () => {}, { timeout: '1.5s' })
       server.addDestroy('pool', () => {}, { timeout: '9s' })
       server.addPhase('flush-queue', () => {}, { after: ['RequestsDrained'], before: ['destroy'], timeout: '4s' })`,
    )
    const { default: life } = (await import(pathToFileURL(config).href)) as { default: Life }
    const { default: profile, crash } = planOf(life).input.profiles

    const { code, out } = await run('--config', config, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      platform: { name: 'kubernetes', reason: 'given' },
      stops: {
        default: {
          shutdownDelay: 2_000,
          requestsUntil: Math.round(profile.cutsMs.requests),
          instants: { 'Cut.hooks': Math.round(profile.cutsMs.hooks), 'Cut.destroy': Math.round(profile.cutsMs.destroy), Forced: 40_000 },
        },
        crash: { shutdownDelay: 0, requestsUntil: Math.round(crash.cutsMs.requests) },
      },
      limits: {
        preShutdownHooks: { leave: 1_500 },
        destroyFunctions: { pool: 9_000 },
        phases: { 'flush-queue': 4_000 },
        requestDrainTimeout: 12_000,
        connectionTimeout: 3_000,
      },
      chosen: { deadline: { ms: 40_000, because: 'given' }, crashDeadline: { ms: 40_000, because: 'the deadline' } },
    })

    const { out: text } = await run('--config', config)
    expect(text).toMatch(/^ {2}pre-shutdown hook leave +1\.5s$/m)
    expect(text).toMatch(/^ {2}destroy function pool +9s$/m)
    expect(text).toMatch(/^ {2}phase flush-queue +4s$/m)
    expect(text).toMatch(/^ {2}request drain +12s$/m)
  })

  test('what is registered takes its time from requests', async () => {
    const until = async (name: string, register?: string): Promise<number> => {
      const { out } = await run('--config', await lifeModule(name, { platform: 'container' }, register), '--json')
      return (JSON.parse(out) as { stops: { default: { requestsUntil: number } } }).stops.default.requestsUntil
    }
    expect(await until('with.mjs', "server.addDestroy('pool', () => {})")).toBeLessThan(await until('without.mjs'))
  })

  test('prints that of a server without hooks when it is given none', async () => {
    const { code, out, err } = await run()
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^plan of quiesce serve, .*\nplatform \S+ \(.+\)/)
    // Nothing was given, and the built-in server has other defaults than a server in a cluster.
    expect(out).toMatch(/^ {2}shutdownDelay +0ms +default of quiesce serve$/m)
    expect(out).not.toMatch(/ given$/m)
  })

  test('takes the flags of serve that a plan depends on', async () => {
    const { code, out, err } = await run('--deadline', '40s', '--shutdown-delay-duration=3s', '--shutdown-send-retry-after', '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({
      whileDraining: 'retry-after',
      stops: { default: { shutdownDelay: 3_000, instants: { Forced: 40_000 } } },
      chosen: { deadline: { ms: 40_000, because: 'given' }, shutdownDelay: { ms: 3_000, because: 'given' } },
    })
  })

  test('reads what is set around a command that serves', async () => {
    const path = join(folder, 'settings.json')
    await writeFile(path, '{ "deadline": "30s", "last-call": "2s", "port": 9000 }')
    const env = { QUIESCE_CONFIG: path, QUIESCE_DEADLINE: '20s', QUIESCE_KILL_AFTER: '50s', QUIESCE_EXPORT: 'app', QUIESCE_DEMO: 'true' }
    const { code, out, err } = await runCommandIn(env, 'plan', '--kill-after=40s', '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(JSON.parse(out)).toMatchObject({
      chosen: {
        killAfter: { ms: 40_000, because: 'given' },
        deadline: { ms: 20_000, because: 'given' },
        lastCall: { ms: 2_000, because: 'given' },
        shutdownDelay: { ms: 0, because: 'default of quiesce serve' },
      },
    })
    expect(await runCommandIn({ QUIESCE_DEADLINE: 'soon', QUIESCE_DEADLIN: '5s' }, 'plan')).toEqual({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^quiesce: QUIESCE_DEADLIN: unknown .*DEADLINE.*\nquiesce: QUIESCE_DEADLINE: got "soon", allowed: a duration .*\n$/,
      ),
    })
  })

  test('prints the plan of a module as the module sets it', async () => {
    const config = await lifeModule('set-in-code.mjs', { deadline: '11s' })
    const { code, out } = await runCommandIn({ QUIESCE_DEADLINE: '20s', QUIESCE_OWN: 'x' }, 'plan', '--config', config, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ chosen: { deadline: { ms: 11_000 } } })
  })

  test('names what it cannot use in one line', async () => {
    const cycle = await lifeModule('unknown.mjs', {}, "server.addPreShutdownHook('a', () => {}, { after: ['b'] })")
    const twoBad = await lifeModule('two-bad.mjs', { deadline: -1, port: -5 })
    const cases: [readonly string[], RegExp][] = [
      [['--config', twoBad], /\((?=.*port: got -5)(?=.*deadline: got -1).*; .*\)\n$/],
      [['--config', join(folder, 'gone.mjs')], /^quiesce: --config: got .*, allowed: an ES module .*\n$/],
      [['--config', cycle], /^quiesce: --config: got .*, allowed: an ES module .*\n$/],
      [['--json=yes'], /^quiesce: --json: got "yes", allowed: no value\n$/],
      [['--deadline', 'soon'], /^quiesce: --deadline: got "soon", allowed: a duration .*\n$/],
      [
        ['--deadline=5s', '--shutdown-delay-duration=9s'],
        /^quiesce: --shutdown-delay-duration: got "9s", allowed: at most .* with --deadline 5s.*\n$/,
      ],
      [['--config', join(folder, 'gone.mjs'), '--deadline=5s'], /^quiesce: --deadline: got "5s", allowed: only without --config.*\n$/],
      [['--jsn'], /^quiesce: --jsn: unknown flag.*\n$/],
    ]
    for (const [args, message] of cases) {
      const { code, out, err } = await run(...args)
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toMatch(message)
    }
  })
})
