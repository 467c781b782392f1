// Fails when: a request whose client leaves while a filter or its handler takes time ends the
// process, comes to its handler all the same, or has an audit event for its beginning and none for
// its end.
import { expect, onTestFinished, test } from 'vitest'
import { createApiServerOn } from '#apiserver/api-server.ts'
import { ABORT_HANDLER, completeConfig } from '#apiserver/index.ts'
import { RecordingAuthorizer } from '#apiserver/testing/index.ts'
import { type TestLife, testLife } from '#src/testing/index.ts'
import { serveApi } from '../support/api-server.ts'
import { Sink } from './audit/sink.ts'

interface Scene {
  readonly life: TestLife
  readonly sink: Sink
  readonly handled: readonly string[]
  /** Sends a request, and leaves. */
  readonly leave: (path: string) => Promise<void>
}

/** Authentication takes 2 s with `authn` in the target; each handler fails after 2 s. */
async function serve(): Promise<Scene> {
  const sink = new Sink()
  const handled: string[] = []
  const life = await testLife((world) =>
    world.create((host) => {
      const user = { name: 'ann', groups: [], extra: {} }
      const authenticate = async ({ url }: { readonly url?: string | undefined }): Promise<{ readonly user: typeof user }> => {
        if (url?.includes('authn')) await world.clock.sleep('2s')
        return { user }
      }
      const config = completeConfig({
        platform: 'unknown',
        logger: false,
        exit: 'natural',
        lastCall: 0,
        maxRequestsInFlight: 0,
        authenticators: [{ authenticate }],
        audit: sink,
        auditPolicy: { rules: [{ level: 'Metadata' }] },
      })
      const server = createApiServerOn(host, config)
      server.handlePrefix('/', async (request) => {
        handled.push(request.url as string)
        await world.clock.sleep('2s')
        throw request.url?.includes('abort') ? ABORT_HANDLER : new Error('a mistake')
      })
      return server.prepare().life
    }),
  )
  onTestFinished(async () => void (await life[Symbol.asyncDispose]()))
  const leave = async (path: string): Promise<void> => {
    const connection = await life.connect()
    connection.request(path)
    await life.clock.advance(0)
    connection.destroy()
    await life.clock.advance(0)
  }
  return { life, sink, handled, leave }
}

test.each(['/late', '/late?abort', '/late?authn'])('what fails or ends long after its client has left is reported: %s', async (path) => {
  const { life, leave } = await serve()
  await leave(path)
  await life.clock.advance('1500ms')
  // The engine lets go of those that are older than a second when another one is left.
  await leave('/late')
  await life.clock.advance('3s')
  const { errors, exitCode } = await life.stop()
  const expected = path === '/late' ? 2 : 1
  expect(errors.map(({ where, error, count = 1 }) => [where, error?.message, count])).toEqual([
    ['handler GET /late', 'a mistake', expected],
  ])
  expect(exitCode).toBe(0)
})

test.each(['/late?authn', '/apis/g/v1/things?watch=1&authn'])(
  'one that leaves while it is asked who it is goes no further: %s',
  async (path) => {
    const { life, leave, sink, handled } = await serve()
    await leave(path)
    await life.clock.advance('3s')
    expect([handled, sink.calls.flat().map(({ stage }) => stage)]).toEqual([[], []])
  },
)

test('an upgrade whose client breaks off before it is allowed is not recorded as one that was answered', async () => {
  const sink = new Sink()
  const authorizer = new RecordingAuthorizer('allow')
  authorizer.hold()
  const served = await serveApi({
    config: { authorizer, audit: sink, auditPolicy: { rules: [{ level: 'Metadata' }] } },
    setUp: (server) => server.handleUpgrade('/upgrade', () => {}),
  })
  const client = await served.connect()
  client.send(Buffer.from('GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'))
  await expect.poll(() => authorizer.asked.length).toBe(1)
  client.socket.resetAndDestroy()
  await expect.poll(() => sink.calls.flat().at(-1)?.responseStatus).toMatchObject({ message: 'Connection closed early', code: 200 })
})
