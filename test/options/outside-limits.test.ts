// Limits of what surrounds a process, beside the times of its life. Fails when: a platform kills
// before the end is over and nothing says so; when what fits is warned of; or when somebody who has
// set another time has no way to say it.
import { describe, expect, test } from 'vitest'
import { type Duration, formatDuration, parseDuration } from '#src/base/duration.ts'
import { planText, printedPlan } from '#src/cli/printed-plan.ts'
import { createServer } from '#src/create-server.ts'
import type { Lifecycle } from '#src/lifecycle/lifecycle.ts'
import { planOf } from '#src/model/life/lifecycle-model.ts'
import { resolveLifecycleOptions, resolveServerOptions, type ServerOptions } from '#src/options/options.ts'
import type { PlatformFacts } from '#src/platforms/platform.ts'
import { killOf, PLATFORM_NAMES, PLATFORMS } from '#src/platforms/platforms.ts'
import { newLife } from '../support/life.ts'

const facts: PlatformFacts = { env: {}, pid: 12, terminal: false, containerFile: false }
const warnings = (options: ServerOptions, env: PlatformFacts['env'] = {}) =>
  resolveServerOptions(options, { facts: { ...facts, env } }).warnings.map(({ message }) => message)

const shown = (duration: Duration): string => formatDuration(parseDuration('', duration))

const killing = PLATFORM_NAMES.flatMap((platform) => {
  const kill = killOf(platform, {})
  return kill ? [{ platform, ...kill }] : []
})

test('of every platform but the unknown one it is known when it kills', () => {
  expect(PLATFORMS.filter((spec) => !('kills' in spec)).map(({ name }) => name)).toEqual(['unknown'])
})

describe.each(killing)('on $platform, which kills after $after', ({ platform, after }) => {
  test('the defaults fit', () => {
    expect(warnings({ platform })).toEqual([])
    expect(resolveLifecycleOptions({ platform }, { facts }).warnings).toEqual([])
  })

  test.each<[string, ServerOptions]>([
    ['deadline', { deadline: after }],
    ['delay, which raises the deadline', { shutdownDelay: after }],
    ['grace, which raises it, too', { watchGrace: after }],
    ['front, which has a longer delay', { behind: 'nlb' }],
  ])('a given %s that does not fit is warned of', (_, options) => {
    const { deadlineMs, warnings: found } = resolveServerOptions({ platform, ...options }, { facts })
    // What takes the traffic away first has no longer delay.
    if (options.behind && deadlineMs < 100_000) return
    const message = `is not below the ${shown(after)} after which platform ${platform} kills`
    expect(found).toEqual([{ code: 'WARN_OUTSIDE_LIMITS', message: expect.stringContaining(message) as string }])
  })

  test('is killed later where that was said', () => {
    expect(warnings({ platform, deadline: after, killAfter: '5m' })).toEqual([])
    expect(warnings({ platform, deadline: '5m', killAfter: '5m' })).toEqual([
      expect.stringMatching(/^deadline 5m0s \(given\) is not below the 5m0s after which the process is killed \(killAfter\)/),
    ])
  })
})

test('the warning says what to set, and whose number it is', () => {
  expect(warnings({ platform: 'container', shutdownDelay: '25s' })).toEqual([
    'deadline 33s (8s of platform container does not fit) is not below the 10s after which platform container kills, which its shutdown delay of 25s uses up alone: what is in flight then is cut off, and the end is not run: raise docker stop --time, stop_grace_period and say so with killAfter, or give a shorter one',
  ])
  expect(warnings({ platform: 'heroku', deadline: '40s' })[0]).toMatch(/: give a shorter one$/)
  expect(warnings({ platform: 'unknown', deadline: '10m' })).toEqual([])
})

test('PM2 says itself what it was set to', () => {
  const env = { pm_id: '0', kill_timeout: '20000' }
  expect(warnings({ deadline: '15s' }, env)).toEqual([])
  expect(warnings({ deadline: '20s' }, env)).toEqual([expect.stringContaining('is not below the 20s')])
  expect(warnings({ deadline: '15s' }, { pm_id: '0', kill_timeout: 'x' })).toEqual([expect.stringContaining('is not below the 1.6s')])
})

test('an idle connection that the front keeps longer than the server is warned of', () => {
  expect(warnings({ platform: 'unknown', behind: 'alb', keepAliveTimeout: '60s' })).toEqual([
    expect.stringMatching(/^keepAliveTimeout 1m0s is not above the 60s for which an AWS Application Load Balancer keeps .* give 75s$/),
  ])
  expect(warnings({ platform: 'unknown', behind: 'alb', keepAliveTimeout: '61s' })).toEqual([])
  expect(warnings({ platform: 'unknown', behind: 'service', keepAliveTimeout: '1s' })).toEqual([])
  for (const behind of ['alb', 'nlb', 'gclb', 'envoy'] as const) expect(warnings({ platform: 'unknown', behind })).toEqual([])
})

describe('a warning is said', () => {
  const OPTIONS: ServerOptions = { platform: 'container', deadline: '25s' }

  test('when the life is run, in the log and on standard error', async () => {
    const t = newLife({ options: OPTIONS })
    const ended = t.life.run()
    await t.fired('PostStartHooksLaunched')
    expect(t.life.status.report.warnings.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^deadline 25s \(given\)/))
    expect(t.process.stderrText).toMatch(/^quiesce: deadline 25s \(given\) is not below the 10s/m)
    await t.end()
    await ended
  })

  test('in its plan', () => {
    const life = createServer({ listener: () => {} }, { ...OPTIONS, logger: false })
    const plan = printedPlan('x', (life as Lifecycle).options, planOf(life))
    expect(planText(plan)).toMatch(/^warning: deadline 25s \(given\) is not below the 10s/m)
    expect(plan.warnings).toHaveLength(1)
    expect(plan.chosen['killAfter']).toEqual({ ms: 10_000, because: 'platform container' })
  })
})
