import { describe, expect, test } from 'vitest'
import { resolveLifecycleOptions } from '#src/options/options.ts'
import type { PlatformFacts } from '#src/platforms/platform.ts'
import { detectPlatform } from '#src/platforms/platforms.ts'
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
