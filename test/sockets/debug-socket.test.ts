// Read with curl, as an operator does. Fails when: the debug socket is open to others than the user
// of the process, gives no profile that tools can read, says nothing of a drain that hangs,
// outlives the life, or keeps a server from starting.
import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newLife } from '../support/life.ts'
import { startServer, temporaryFolder } from '../support/process.ts'
import { row } from '../support/row.ts'

// Where there is no curl these tests say that they were skipped.
const hasCurl = spawnSync('curl', ['--version']).status === 0
const MAX_BYTES = 512 * 1024 * 1024

async function curl(socket: string, path: string, ...args: string[]): Promise<string> {
  const options = { maxBuffer: MAX_BYTES }
  return (await promisify(execFile)('curl', ['--silent', '--unix-socket', socket, ...args, `http://debug${path}`], options)).stdout
}

const newPath = (): string => join(temporaryFolder(), 'debug.sock')

async function debugged() {
  const socket = newPath()
  const program = startServer({ options: { debugSocket: socket, deadline: '60s' } })
  const port = await program.serving()
  return { socket, program, port }
}

interface Profile {
  readonly nodes: readonly { readonly callFrame: { readonly functionName: string } }[]
  readonly samples: readonly number[]
}

describe.skipIf(!hasCurl)('the debug socket of a process', () => {
  test('is for its user alone, and says what there is', async () => {
    const { socket } = await debugged()
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(await curl(socket, '/')).toContain('/debug/pprof/profile\n')
    expect(await curl(socket, '/nowhere', '--write-out', '%{http_code}')).toMatch(/404$/)
    // Two slashes are no host.
    expect(await curl(socket, '//', '--write-out', '%{http_code}')).toMatch(/404$/)
  })

  test('profiles what runs, one at a time', async () => {
    const { socket, program } = await debugged()
    let isOver = false
    const both = Promise.all([1, 2].map(() => curl(socket, '/debug/pprof/profile?seconds=3'))).finally(() => {
      isOver = true
    })
    const client = await program.connect()
    while (!isOver) expect(await client.ask('GET', '/block?ms=50')).toMatchObject({ body: 'unblocked' })
    const [refused, taken] = (await both).toSorted((one, other) => one.length - other.length)
    expect(refused).toBe('a profile is being taken\n')
    const profile = JSON.parse(taken as string) as Profile
    // V8 may have put the function into the handler that calls it.
    expect(profile.nodes.map(({ callFrame }) => callFrame.functionName)).toContainEqual(expect.stringMatching(/^\/?block$/))
    expect(profile.samples.length).toBeGreaterThan(0)
    expect(await curl(socket, '/debug/pprof/profile?seconds=0', '--write-out', '%{http_code}')).toMatch(/400$/)
  })

  test('gives a heap snapshot and the kinds of handles', async () => {
    const { socket } = await debugged()
    const { snapshot } = JSON.parse(await curl(socket, '/debug/pprof/heap')) as { snapshot: { node_count: number } }
    expect(snapshot.node_count).toBeGreaterThan(1_000)
    expect(JSON.parse(await curl(socket, '/debug/handles'))).toMatchObject({ TCPServerWrap: 1, PipeWrap: expect.any(Number) })
  })

  test('shows a drain that hangs while it hangs, and is gone with the life', async () => {
    const { socket, program } = await debugged()
    await program.requested('GET', '/hang')
    program.signal('SIGTERM')
    await Promise.all(['HTTPServerStoppedListening', 'LastCallComplete'].map((name) => program.said(`fired ${name}`)))
    const life = JSON.parse(await curl(socket, '/debug/life')) as { gauges: { requests: number }; progress: { headline: string } }
    expect(life.gauges.requests).toBe(1)
    expect(life.progress.headline).toMatch(/^GET \/hang blocks the exit/)
    // Two that come together are one.
    await program.said('600 ms after the stop request')
    program.signal('SIGTERM')
    await program.ended()
    expect(existsSync(socket)).toBe(false)
  })
})

row('DS-01', 'one that a killed process has left is replaced, and serves without authentication', async () => {
  const first = await debugged()
  first.program.signal('SIGKILL')
  await first.program.ended()
  expect(existsSync(first.socket)).toBe(true)
  const second = newLife({ options: { debugSocket: first.socket } })
  await second.life.start()
  if (hasCurl) expect(await curl(first.socket, '/debug/handles')).toMatch(/^\{/)
  await second.end()
  expect(existsSync(first.socket)).toBe(false)
})

row('DS-03', 'one that cannot be bound is an error in the log, and the server serves', async () => {
  const socket = newPath()
  mkdirSync(socket)
  const rig = newLife({ options: { debugSocket: socket } })
  await rig.life.start()
  expect((await rig.get('/')).body).toBe('hello')
  const report = await rig.end()
  expect(report.errors).toMatchObject([{ where: 'debug socket', error: { code: 'ERR_LISTEN' } }])
  expect(report.exitCode).toBe(0)
})

describe('the debug socket of a life', () => {
  /** A life with one, and a client that keeps its connection. */
  async function looked() {
    const socketPath = newPath()
    const rig = newLife({ options: { debugSocket: socketPath } })
    await rig.life.start()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const ask = async (path: string) => {
      const asked = request({ socketPath, path, agent }).end()
      const [response] = (await once(asked, 'response')) as [IncomingMessage]
      const { socket } = response
      return { status: response.statusCode, body: await text(response), socket }
    }
    return { rig, ask }
  }

  test('says what there is, also to who asks for what there is not', async () => {
    const { ask } = await looked()
    const index = await ask('/')
    expect(index.status).toBe(200)
    expect(index.body).toContain('/debug/handles\n    what keeps the process alive, by kind\n')
    expect(await ask('/nowhere')).toMatchObject({ status: 404, body: index.body })
  })

  test('counts what keeps the process alive, by kind', async () => {
    const { rig, ask } = await looked()
    Object.assign(rig.process, { getActiveResourcesInfo: () => ['Timeout', 'PipeWrap', 'Timeout', 'Timeout'] })
    expect(JSON.parse((await ask('/debug/handles')).body)).toEqual({ Timeout: 3, PipeWrap: 1 })
  })

  test('is no traffic: it is not counted, its connections do not hold up the end, and are closed by it', async () => {
    const { rig, ask } = await looked()
    const { body, socket } = await ask('/debug/life')
    expect(JSON.parse(body)).toMatchObject({ gauges: { requests: 0, connections: { active: 0, idle: 0, byProtocol: [] } }, progress: null })
    expect(rig.life.counts().connections.open).toBe(0)
    const closed = once(socket, 'close')
    expect(await rig.end()).toMatchObject({ exitCode: 0, requests: { before: 0 } })
    await closed
  })
})
