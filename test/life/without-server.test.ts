// A life that serves nothing: createLife(). Fails when: it cannot start without a listener, ends by
// itself, does not wait for the work that it holds, or answers health anywhere but on its admin
// listener.
import { expect, test } from 'vitest'
import { deferred } from '#src/base/deferred.ts'
import { resolveLifeOptions } from '#src/options/options.ts'
import { testLife } from '#src/testing/index.ts'

test('starts, holds work, drains it, destroys and reports', async () => {
  const order: string[] = []
  const t = await testLife(({ createLife }) => {
    const life = createLife()
    life.addPostStartHook('consume', () => void order.push('consume'))
    life.addPreShutdownHook('leave', () => void order.push('leave'))
    life.addDestroy('queue', () => void order.push('queue'))
    return life
  })
  expect(t.life.addresses).toEqual([])
  expect(t.hasFired('Serving')).toBe(true)
  const job = deferred<void>()
  void t.life.hold('job 7', () => job.promise.then(() => order.push('job')))
  t.process.signal('SIGTERM')
  await t.clock.advance(10)
  expect(t.hasFired('HTTPServerStoppedListening')).toBe(true)
  expect(order).toEqual(['consume', 'leave'])
  job.resolve()
  expect(await t.end()).toMatchObject({
    exitCode: 0,
    reason: { kind: 'os-signal' },
    listeners: [],
    requests: { before: 1, after: 0 },
    errors: [],
    warnings: [],
  })
  expect(order).toEqual(['consume', 'leave', 'job', 'queue'])
})

test('cuts and names work that does not end, with exit code 5', async () => {
  const t = await testLife(({ createLife }) => createLife({ deadline: '5s' }))
  const notified = new Promise(
    (resolve) => void t.life.hold('job', ({ signal }) => new Promise(() => signal.addEventListener('abort', resolve))),
  )
  expect(await t.stop()).toMatchObject({ exitCode: 5, requests: { cut: [{ name: 'job' }] } })
  await notified
})

test('answers health on the admin listener', async () => {
  const t = await testLife(({ createLife }) => {
    const life = createLife({ admin: { port: 9090 } })
    life.addReadyzCheck('queue', () => {})
    return life
  })
  expect(await (await t.connect(9090)).request('/readyz').response).toMatchObject({ status: 200, body: 'ok' })
  expect(await (await t.connect(9090)).request('/').response).toMatchObject({ status: 404 })
  expect((await t.stop()).listeners).toEqual([expect.objectContaining({ admin: true })])
})

test('the log says why a check failed, which the endpoint withholds, once', async () => {
  const lines: { level: string; message: string; fields: object }[] = []
  const at = (level: string) => (fields: object, message: string) => void lines.push({ level, message, fields })
  const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  const world = { isBroken: true }
  const t = await testLife(({ createLife }) => {
    const life = createLife({ admin: { port: 9090 }, logger })
    life.addReadyzCheck('db', () => {
      if (world.isBroken) throw new Error('no route to db')
    })
    return life
  })
  const probe = async (): Promise<void> => void (await (await t.connect(9090)).request('/readyz').response)
  await probe()
  await probe()
  world.isBroken = false
  await probe()
  expect(lines.filter(({ message }) => message.startsWith('health check'))).toEqual([
    { level: 'warn', message: 'health check "db" failed: no route to db', fields: { check: 'db', why: 'no route to db' } },
    { level: 'info', message: 'health check "db" passes again', fields: { check: 'db' } },
  ])
  await t.stop()
})

test('a probe that is still waited for on the admin listener does not outlive the life', async () => {
  const t = await testLife(({ createLife }) => {
    const life = createLife({ admin: { port: 9090 } })
    life.addReadyzCheck('queue', () => new Promise(() => {}), { timeout: '1h' })
    return life
  })
  const probe = await t.connect(9090)
  void probe.request('/readyz')
  await t.clock.advance(0)
  expect(probe.isOpen).toBe(true)
  expect(await t.stop()).toMatchObject({ exitCode: 0 })
  expect(probe.isOpen).toBe(false)
})

test('has no delay by default, not even on Kubernetes, and takes one that is given', () => {
  const facts = { env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' }, pid: 1, terminal: false, containerFile: true }
  expect(resolveLifeOptions({}, { facts })).toMatchObject({ shutdownDelayMs: 0, deadlineMs: 25_000 })
  expect(resolveLifeOptions({ shutdownDelay: '2s' }, { facts })).toMatchObject({ shutdownDelayMs: 2_000 })
  expect(() => resolveLifeOptions({ port: 80 } as object, { facts })).toThrow('port: unknown option, allowed: only for createServer')
})
