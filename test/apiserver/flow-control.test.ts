// The slot of flow control with something real in it: a queue with priorities in front of one seat.
// Fails when: a request is let in without a seat, a seat is not given back or given back twice, one
// that waits keeps its turn although its client has left or its time is over, a failure lets in.
import { describe, expect, test } from 'vitest'
import { completeConfig } from '#apiserver/config.ts'
import type { Admission, ApiExchange, FlowControl, Seat } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { refusal } from '../support/life.ts'

interface Waiting {
  readonly level: number
  readonly seat: (admission: Admission) => void
}

/** One seat; those that wait are served by level, at most two at a time wait. */
class PriorityQueue implements FlowControl {
  readonly #queue: Waiting[] = []
  /** Seats that are taken: never more than one. */
  taken = 0
  given = 0

  get waiting(): number {
    return this.#queue.length
  }

  admit({ request, signal }: ApiExchange): Admission | Promise<Admission> {
    if (this.taken === 0) return this.#take()
    if (this.#queue.length >= 2) return false
    return new Promise((resolve) => {
      const one: Waiting = { level: Number(request.headers['x-level'] ?? 0), seat: resolve }
      this.#queue.push(one)
      signal.addEventListener('abort', () => {
        const at = this.#queue.indexOf(one)
        if (at < 0) return
        this.#queue.splice(at, 1)
        resolve(false)
      })
    })
  }

  retryAfterSeconds = () => 7

  #take(): Seat {
    this.taken++
    this.given++
    let isBack = false
    return {
      giveBack: () => {
        if (isBack) throw new Error('given back twice')
        isBack = true
        this.taken--
        this.#queue.sort((a, b) => b.level - a.level)
        this.#queue.shift()?.seat(this.#take())
      },
    }
  }
}

async function serve(flowControl: FlowControl, more = {}) {
  const order: string[] = []
  const ends = new Map<string, () => void>()
  const served = await serveApi({
    config: { flowControl, ...more },
    setUp: (server) => {
      server.handlePrefix('/held/', ({ url = '' }, response) => {
        order.push(url.split('?')[0] as string)
        return new Promise<void>((resolve) => {
          ends.set(url.split('?')[0] as string, () => {
            response.end('done')
            resolve()
          })
        })
      })
    },
  })
  const held = (name: string, level = 0, init: RequestInit = {}) =>
    served.ask(`/held/${name}`, { headers: { 'X-Level': String(level) }, ...init }).then(async (answer) => {
      await answer.text()
      return answer
    })
  const end = async (name: string) => {
    await expect.poll(() => ends.has(`/held/${name}`)).toBe(true)
    ends.get(`/held/${name}`)?.()
  }
  return { served, order, held, end }
}

test('those that wait are served by their priority, and what is too many is sent away', async () => {
  const queue = new PriorityQueue()
  const { order, held, end, served } = await serve(queue)
  const first = held('first')
  await expect.poll(() => queue.taken).toBe(1)
  const low = held('low', 1)
  await expect.poll(() => queue.waiting).toBe(1)
  const high = held('high', 2)
  await expect.poll(() => queue.waiting).toBe(2)
  const refused = await held('more', 9)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7'])
  for (const name of ['first', 'high', 'low']) await end(name)
  expect((await Promise.all([first, high, low])).map(({ status }) => status)).toEqual([200, 200, 200])
  expect(order).toEqual(['/held/first', '/held/high', '/held/low'])
  await expect.poll(() => queue.taken).toBe(0)
  expect(queue.given).toBe(3)
  expect(served.counted).toEqual(['terminated 429 /held/more', 'flow-control took time', 'flow-control took time'].toSorted().toReversed())
})

test('one whose client leaves, or whose time is over, loses its turn and keeps no seat', async () => {
  const queue = new PriorityQueue()
  const { order, held, end, served } = await serve(queue)
  const first = held('first')
  await expect.poll(() => queue.taken).toBe(1)
  const leaving = new AbortController()
  const left = held('left', 9, { signal: leaving.signal })
  await expect.poll(() => queue.waiting).toBe(1)
  expect((await held('late?timeout=100ms', 8)).status).toBe(504)
  await expect.poll(() => queue.waiting).toBe(1)
  leaving.abort()
  await expect(left).rejects.toThrow()
  await expect.poll(() => queue.waiting).toBe(0)
  await end('first')
  expect((await first).status).toBe(200)
  await expect.poll(() => queue.taken).toBe(0)
  expect(order).toEqual(['/held/first'])
  expect(served.lines.filter(({ level }) => level === 'error').map(({ message }) => message)).not.toContain('given back twice')
})

test('a seat that comes when its request is over is given back at once, and its handler is not called', async () => {
  const seats: ((admission: Admission) => void)[] = []
  let back = 0
  const { order, held, served } = await serve({ admit: () => new Promise((resolve) => void seats.push(resolve)) })
  const leaving = new AbortController()
  const left = held('left', 0, { signal: leaving.signal })
  await expect.poll(() => seats.length).toBe(1)
  leaving.abort()
  await expect(left).rejects.toThrow()
  await expect.poll(() => served.life.counts().requests).toBe(0)
  seats[0]?.({ giveBack: () => back++ })
  await expect.poll(() => back).toBe(1)
  expect(order).toEqual([])
})

describe('what fails lets nothing in', () => {
  test.each<[string, FlowControl['admit']]>([
    [
      'throws',
      () => {
        throw new Error('no queue')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no queue'))],
  ])('%s', async (_, admit) => {
    const { order, held } = await serve({ admit })
    expect((await held('x')).status).toBe(500)
    expect(order).toEqual([])
  })

  test('a seat that cannot be given back is reported', async () => {
    const { held, end, served } = await serve({
      admit: () => ({
        giveBack: () => {
          throw new Error('no such seat')
        },
      }),
    })
    const asked = held('x')
    await end('x')
    expect((await asked).status).toBe(200)
    await expect.poll(() => served.lines.filter(({ level }) => level === 'error').length).toBe(1)
  })

  test('what cannot be asked is refused', () => {
    expect(refusal(() => completeConfig({ flowControl: {} as FlowControl })).message).toBe(
      'flowControl: got {}, allowed: an object with admit()',
    )
  })
})

test('an answer that is no admission lets nothing in', async () => {
  for (const answer of [() => undefined, async () => undefined, () => 'yes', async () => ({ seat: 1 })]) {
    const { order, held, served } = await serve({ admit: answer as unknown as FlowControl['admit'] })
    expect((await held('x')).status, String(answer)).toBe(500)
    const { errors } = await served.life.stop()
    expect(errors.map(({ error }) => error.message)).toEqual([
      expect.stringMatching(/^flowControl\.admit: returned .*, allowed: true, false, a seat with giveBack\(\), or a promise of it$/),
    ])
    expect(order).toEqual([])
  }
})
