// How long watches last. Fails when: one lasts longer than its client has asked for, or than twice
// the shortest time; it ends sooner; its handler is not told; its answer is broken off; or what is
// no watch is bounded by it. And that every option of an API server has a reader.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createApiServerOn } from '#apiserver/api-server.ts'
import { API_SERVER_OPTIONS, completeConfig } from '#apiserver/config.ts'
import { addAuditAnnotation, addLatency, warn } from '#apiserver/index.ts'
import { shutdownSignalOf } from '#src/index.ts'
import { resolvedName } from '#src/options/kit/define.ts'
import { LIFECYCLE_OPTIONS } from '#src/options/rows/lifecycle.ts'
import { LISTEN_OPTIONS } from '#src/options/rows/listeners.ts'
import { testLife } from '#src/testing/index.ts'

async function serve(config: object, isHeard: boolean) {
  const life = await testLife((world) =>
    world.create((host) => {
      const base = { platform: 'unknown', logger: false, exit: 'natural', lastCall: 0 } as const
      const server = createApiServerOn({ ...host, random: () => 0.5 }, completeConfig({ ...base, ...config }))
      server.handlePrefix('/', (request, response) => {
        response.write('begun\n')
        if (isHeard) shutdownSignalOf(request).addEventListener('abort', () => response.end('bye\n'))
      })
      return server.prepare().life
    }),
  )
  onTestFinished(async () => void (await life[Symbol.asyncDispose]()))
  return life
}

const WATCH = '/apis/a/v1/things?watch=1'

test.each([
  ['as long as its client asks for', WATCH, '&timeoutSeconds=5', '4999ms', '1ms'],
  ['between once and twice the shortest time', WATCH, '', '89999ms', '1ms'],
  ['as by the server when its client asks for nothing that can be read', WATCH, '&timeoutSeconds=-5', '89999ms', '1ms'],
])('a watch lasts %s, and its handler ends it', async (_, path, more, before, after) => {
  const life = await serve({ minRequestTimeout: '60s' }, true)
  const answer = life.request(`${path}${more}`)
  let isOver = false
  void answer.then(() => {
    isOver = true
  })
  await life.clock.advance(before)
  expect(isOver).toBe(false)
  await life.clock.advance(after)
  expect((await answer).body).toBe('begun\nbye\n')
})

test('one whose handler does not hear of it is ended in order', async () => {
  const life = await serve({ minRequestTimeout: 0 }, false)
  const answer = life.request(`${WATCH}&timeoutSeconds=2`)
  await life.clock.advance('3s')
  expect(await answer).toMatchObject({ status: 200, body: 'begun\n' })
  const endless = await life.connect()
  endless.request(WATCH)
  await life.clock.advance('2h')
  expect(endless.state).toBe('open')
})

test('every option has a reader', () => {
  const files = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? files(join(folder, entry.name)) : entry.name.endsWith('.ts') ? [join(folder, entry.name)] : [],
    )
  // Without comments and texts, which name options and read none; a command only carries them on.
  const text = ['src', 'packages/apiserver/src']
    .flatMap(files)
    .filter((path) => !path.startsWith('src/cli/'))
    .map((path) => readFileSync(path, 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|'[^'\n]*'/g, ''))
    .join('\n')
  const rows = { ...API_SERVER_OPTIONS, ...LIFECYCLE_OPTIONS, ...LISTEN_OPTIONS }
  const unread = Object.entries(rows).filter(([name, row]) => {
    const names = `${name}|${resolvedName(name, row)}`
    return !new RegExp(`\\b(${names})\\b(?!:? ?(option\\(|readonly))`).test(text)
  })
  expect(unread.map(([name]) => name)).toEqual([])
})

test('arguments that are none are refused by name', () => {
  const request = {}
  expect(() => warn(request, 'old' as string, undefined as unknown as string)).toThrow(
    'text of warn(request, agent, text): got undefined, allowed: a text',
  )
  expect(() => addAuditAnnotation(request, 'key', 5 as unknown as string)).toThrow(
    'value of addAuditAnnotation(request, key, value): got 5',
  )
  expect(() => addLatency(request, 'etcd', Number.NaN)).toThrow('ms of addLatency(request, layer, ms): got NaN')
})
