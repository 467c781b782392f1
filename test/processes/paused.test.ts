import { expect, test } from 'vitest'
import { startServer } from '../support/process.ts'

test('a process that is paused in its drain for longer than its deadline goes on in order, and destroy keeps its reserve', async () => {
  const program = startServer({
    options: { deadline: '3500ms', reserves: { connections: '50ms', audit: '10ms', destroy: '2s', flush: '440ms' } },
    hooks: [{ kind: 'destroy', name: 'pool', does: 'ends', ms: 1_000, timeout: '10s' }],
  })
  await program.requested('GET', '/hang')
  program.signal('SIGTERM')
  await program.said('fired NotAcceptingNewRequest')
  program.signal('SIGSTOP')
  const pauseMs = 3_800
  await new Promise((resolve) => setTimeout(resolve, pauseMs))
  program.signal('SIGCONT')

  const { code } = await program.ended()
  expect(code).toBe(5)
  const { phases, hooks, requests, forced, signals } = program.report()
  expect(forced).toBeNull()
  expect(requests.cut).toMatchObject([{ name: 'GET /hang' }])
  expect(hooks).toMatchObject([{ name: 'pool', outcome: 'ok' }])
  expect(program.lines).toContain('ended pool')
  const order = ['request-drain', 'close-connections', 'destroy', 'admin-listener', 'report']
  const late = phases.filter(({ name }) => order.includes(name))
  expect(late.map(({ name }) => name)).toEqual(order)
  for (const [index, { start }] of late.entries()) expect(start).toBeGreaterThanOrEqual(late[index - 1]?.end ?? 0)
  const times = signals.map(({ at }) => at)
  expect(times).toEqual([...times].sort((a, b) => a - b))
})
