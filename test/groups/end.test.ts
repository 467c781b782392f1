// Objects while their server ends. Fails when: a watch is cut, or ends without the bookmark from
// which its client goes on; a write that was answered is not stored, one that was refused is, or a
// request is lost without an answer.
import { Agent, get, type IncomingMessage, request } from 'node:http'
import { expect, test } from 'vitest'
import { memoryStorage } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { generator } from '../support/random.mjs'
import { seed } from '../support/seed.ts'
import { demoGroup, WIDGETS, widget, widgets } from './widgets.ts'

const WATCHES = 1_000
const LANES = 16

test(`${WATCHES} watches end in their turn, each with what it has to know`, async () => {
  const memory = memoryStorage().resource()
  const { life, port } = await serveApi({
    config: { watchGrace: '4s', deadline: '20s' },
    setUp: (server) => void server.installApiGroups(demoGroup(memory)),
  })
  const path = `${WIDGETS}?watch=true&allowWatchBookmarks=true`
  const open = async (): Promise<{ readonly end: Promise<readonly [complete: boolean, last: string]> }> => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) =>
      get({ port, host: '127.0.0.1', path, agent: false }, resolve).on('error', reject),
    )
    let text = ''
    answer.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    return {
      end: new Promise((resolve) => answer.on('close', () => resolve([answer.complete, text.trimEnd().split('\n').at(-1) ?? '']))),
    }
  }
  const watches: Promise<readonly [complete: boolean, last: string]>[] = []
  for (let at = 0; at < WATCHES; at += 100) watches.push(...(await Promise.all(Array.from({ length: 100 }, open))).map(({ end }) => end))
  const { resourceVersion } = await memory.list({ namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' })
  const { exitCode } = await life.stop('over')
  const ends = await Promise.all(watches)
  expect(exitCode).toBe(0)
  expect(ends.filter(([complete]) => !complete).length).toBe(0)
  const versions = new Set(
    ends.map(([, last]) => (JSON.parse(last) as { object: { metadata: { resourceVersion: string } } }).object.metadata.resourceVersion),
  )
  expect([...versions]).toEqual([resourceVersion])
})

test.each([0, 200])(
  'what was answered is stored, and nothing else is, on an event loop that is blocked for up to %i ms',
  async (blockedMs) => {
    const store = memoryStorage()
    const [memory, kept] = [store.resource(widgets), store.resource(widgets)]
    const { life, port } = await serveApi({
      // Client and server share an event loop, which a busy machine may hold up for seconds.
      config: { shutdownDelay: '300ms', lastCall: '8s', deadline: '30s' },
      setUp: (server) => void server.installApiGroups(demoGroup(memory)),
    })
    const agent = new Agent({ keepAlive: true, maxSockets: LANES })
    const post = (name: string): Promise<number | string> =>
      new Promise((resolve) => {
        const headers = { 'Content-Type': 'application/json' }
        const sent = request({ port, host: '127.0.0.1', method: 'POST', path: WIDGETS, agent, headers }, (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
        })
        sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message)).end(JSON.stringify(widget(name)))
      })
    // Its turns are longer than clients need to connect again, so that its accept queue stays full.
    const random = generator(seed)
    const blocker = setInterval(() => {
      const until = performance.now() + random() * blockedMs
      while (performance.now() < until);
    }, 30)
    const outcomes = new Map<string, number | string>()
    let next = 0
    let stopped: ReturnType<typeof life.stop> | undefined
    const lane = async (): Promise<void> => {
      for (;;) {
        const name = `w${next++}`
        if (next === 200) stopped = life.stop('over')
        const outcome = await post(name)
        outcomes.set(name, outcome)
        // Nothing listens any more: the server is gone.
        if (outcome === 'ECONNREFUSED') return
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
    expect((await stopped)?.exitCode).toBe(0)
    agent.destroy()
    clearInterval(blocker)
    const names = (is: (outcome: number | string) => boolean) => [...outcomes].filter(([, outcome]) => is(outcome)).map(([name]) => name)
    const { items } = await kept.list({ namespace: '', matches: () => true, limit: undefined, at: undefined, start: '' })
    expect(items.map(({ metadata }) => metadata.name).sort()).toEqual(names((outcome) => outcome === 201).sort())
    expect(items.length).toBeGreaterThan(200)
    // Answered, or never taken: no connection was closed on a request.
    expect([...outcomes].filter(([, outcome]) => outcome !== 201 && outcome !== 'ECONNREFUSED' && outcome !== 503)).toEqual([])
  },
)
