import { describe, expect, test } from 'vitest'
import { resolveLifecycleOptions } from '#src/options/options.ts'
import type { PlatformFacts } from '#src/platforms/platform.ts'
import { detectPlatform, whyUnstoppable } from '#src/platforms/platforms.ts'
import { isInteractiveStop } from '#src/platforms/terminal.ts'

const nowhere: PlatformFacts = { env: {}, pid: 4711, terminal: false, containerFile: false }

describe('the platform', () => {
  test.each([
    ['kubernetes', { env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } }, 5_000, 25_000],
    ['cloud-run', { env: { K_SERVICE: 'shop' } }, 0, 8_000],
    ['cloud-run', { env: { K_SERVICE: 'shop', KUBERNETES_SERVICE_HOST: '10.0.0.1' } }, 0, 8_000],
    ['systemd', { env: { NOTIFY_SOCKET: '/run/systemd/notify' }, terminal: true }, 0, 80_000],
    ['systemd', { env: { INVOCATION_ID: 'abc' } }, 0, 80_000],
    ['pm2', { env: { pm_id: '0', INVOCATION_ID: 'abc' } }, 0, 1_400],
    // PM2 is nearer than the container that it runs in, and an agent of Nomad under systemd passes
    // its variables on.
    ['pm2', { env: { pm_id: '0', ECS_CONTAINER_METADATA_URI_V4: 'http://169.254.170.2/v4/a' } }, 0, 1_400],
    ['nomad', { env: { NOMAD_ALLOC_ID: 'a1', INVOCATION_ID: 'abc', NOTIFY_SOCKET: '/run/systemd/notify' } }, 0, 4_000],
    ['fly', { env: { FLY_MACHINE_ID: 'a1' }, pid: 1 }, 0, 4_000],
    ['ecs', { env: { ECS_CONTAINER_METADATA_URI_V4: 'http://169.254.170.2/v4/a' }, containerFile: true }, 0, 25_000],
    ['ecs', { env: { ECS_CONTAINER_METADATA_URI: 'http://169.254.170.2/v3/a' } }, 0, 25_000],
    ['heroku', { env: { DYNO: 'web.1' } }, 0, 25_000],
    ['container', { containerFile: true }, 0, 8_000],
    ['container', { pid: 1 }, 0, 8_000],
    ['unknown', {}, 0, 8_000],
  ] as const)('is %s for %j', (name, facts, delayMs, deadlineMs) => {
    expect(resolveLifecycleOptions({}, { facts: { ...nowhere, ...facts } })).toMatchObject({
      platform: { name },
      shutdownDelayMs: delayMs,
      deadlineMs,
    })
  })

  test.each([
    ['platform', 'k8s', 'kubernetes'],
    ['platform', 'Docker', 'container'],
    ['platform', 'Fargate', 'ecs'],
    ['platform', 'kuberntes', 'kubernetes'],
    ['behind', 'istio', 'envoy'],
  ])('%s %j suggests %j', (option, given, meant) => {
    const resolve = () => resolveLifecycleOptions({ [option]: given }, { facts: nowhere })
    expect(resolve).toThrow(`(did you mean "${meant}"?)`)
  })

  test.each(['xyz', 'a', 'pm'])('%j is near to nothing', (given) => {
    expect(() => resolveLifecycleOptions({ platform: given as never }, { facts: nowhere })).not.toThrow(/did you mean "(ecs|fly)"/)
  })

  test('is not systemd in a shell of a desktop session, which inherits INVOCATION_ID', () => {
    expect(detectPlatform({ ...nowhere, env: { INVOCATION_ID: 'abc' }, terminal: true }).name).toBe('unknown')
  })

  test('is not PM2 because its home is set', () => {
    expect(detectPlatform({ ...nowhere, env: { PM2_HOME: '/home/me/.pm2' } }).name).toBe('unknown')
  })

  test('is not Fly.io because an application of it is chosen in a shell', () => {
    expect(detectPlatform({ ...nowhere, env: { FLY_APP_NAME: 'shop' } }).name).toBe('unknown')
  })

  test('names the sign it went by', () => {
    expect(detectPlatform({ ...nowhere, env: { K_SERVICE: 'shop' } }).reason).toBe('K_SERVICE is set')
    expect(detectPlatform(nowhere, 'pm2')).toEqual({ name: 'pm2', reason: 'given' })
  })
})

describe('a SIGTERM to those who started a process', () => {
  const npm = { npm_lifecycle_script: 'node app.js', npm_config_user_agent: 'npm/11.6.0 node/v22.0.0 linux x64' }
  const shell = ['sh', '-c', 'node app.js --port 1']
  const deaf = (started: object, platform: Parameters<typeof whyUnstoppable>[0] = 'container') =>
    whyUnstoppable(platform, { env: npm, terminal: false, ppid: 12, parent: shell, ...started })

  test.each([
    ['npm', {}, /^npm has started .* a shell.*"exec node app\.js"$/],
    ['npx', { env: { ...npm, npm_lifecycle_script: "'app'" }, parent: ['sh', '-c', "'app' --port 1"] }, /^npm .*"exec 'app'"$/],
    ['pnpm', { env: { ...npm, npm_config_user_agent: 'pnpm/9.15.9 npm/?' } }, /^pnpm has started/],
    ['node --run', { env: { NODE_RUN_SCRIPT_NAME: 'start' } }, /^node --run start does not pass SIGTERM on/],
    ['node --run, of a script with exec', { env: { NODE_RUN_SCRIPT_NAME: 'start' }, parent: ['node', '--run', 'start'] }, /^node --run/],
    ['a shell that is PID 1', { env: {}, ppid: 1 }, /^PID 1 is a shell.*CMD \["node"/],
  ])('does not get through %s', (_, started, why) => {
    expect(deaf(started)).toMatch(why)
  })

  test.each([
    ['a shell that has become the command', { parent: ['npm', 'start'] }],
    ['a terminal, where Ctrl-C goes to all', { terminal: true }],
    ['a parent that cannot be read', { parent: undefined }],
    ['a program below the script, which has a shell of its own', { parent: ['sh', '-c', 'tsx watch app.ts'] }],
    ['a shell that no script runner has started', { env: {} }],
  ])('gets through, or it cannot be told: %s', (_, started) => {
    expect(deaf(started)).toBeUndefined()
  })

  test.each(['systemd', 'heroku', 'pm2'] as const)('is one to every process under %s', (platform) => {
    expect(deaf({}, platform)).toBeUndefined()
  })
})

describe('an interactive stop', () => {
  test('is Ctrl-C on a terminal, or any signal of node --watch', () => {
    const terminal = { ...nowhere, terminal: true }
    const watched = { ...nowhere, env: { WATCH_REPORT_DEPENDENCIES: '1' } }
    expect(isInteractiveStop(terminal, 'SIGINT')).toBe(true)
    expect(isInteractiveStop(terminal, 'SIGTERM')).toBe(false)
    expect(isInteractiveStop(nowhere, 'SIGINT')).toBe(false)
    expect(isInteractiveStop(watched, 'SIGTERM')).toBe(true)
  })
})
