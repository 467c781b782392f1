// At what pace a whole life says goodbye to its watches (kubernetes/apimachinery
// pkg/util/waitgroup/ratelimited_waitgroup.go). Fails when: the life tells at another rate than
// that which tells all within half of the grace, slower than 200 per second, all at once, or
// without its own grace.
import { describe, expect } from 'vitest'
import { shutdownSignalOf } from '#src/index.ts'
import { testServer } from '#src/testing/index.ts'
import { row } from '../support/row.ts'

/** When each of `count` watches was told, in milliseconds since NotAcceptingNewRequest. */
async function goodbyes(count: number, watchGrace: string): Promise<readonly number[]> {
  const notified: number[] = []
  await using t = await testServer(
    {
      listener: (request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('frame\n')
        shutdownSignalOf(request).addEventListener('abort', () => {
          notified.push(t.clock.now())
          response.end()
        })
      },
    },
    { watchGrace, deadline: '200s' },
  )
  const connections = await Promise.all(Array.from({ length: count }, () => t.connect()))
  const watches = connections.map((connection) => connection.request({ path: '/events' }))
  await Promise.all(watches.map(({ head }) => head))
  const stoppedAt = t.clock.now()
  expect(await t.stop('enough')).toMatchObject({ exitCode: 0, watches: { before: count, after: 0, cut: [] } })
  return notified.map((at) => at - stoppedAt)
}

/** The first is told at once, each of the others when its turn has come. */
const paced = (count: number, perSecond: number): number[] => Array.from({ length: count }, (_, i) => (i * 1_000) / perSecond)

describe('a life tells its watches to leave', () => {
  row('RL-14', 'at 200 per second when there are few of them: 100 within 60 s', async () => {
    expect(await goodbyes(100, '60s')).toEqual(paced(100, 200))
  })

  row('RL-15', 'so that each has half of the grace for its end: at 2 000 per second when 1 000 have 1 s (V20)', async () => {
    expect(await goodbyes(1_000, '1s')).toEqual(paced(1_000, 2_000))
  })
})
