// Several listeners of one process close while clients connect to each of them without a pause,
// over TCP and a Unix socket, with TLS and without. Fails when: a connection that was accepted has
// no answer, the end is not graceful, or a listener goes on accepting.
import { type RequestOptions, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { wasLate } from '../support/late-client.ts'
import { startServer, type TestProcess, temporaryFolder } from '../support/process.ts'

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url))
const PAIR = { certFile: fixture('cert.pem'), keyFile: fixture('key.pem') }

/** Where it serves, in the order in which it says so. */
async function places(program: TestProcess, count: number): Promise<RequestOptions[]> {
  for (;;) {
    const said = program.log.filter(({ msg }) => msg.startsWith('Serving on ')) as unknown as { address: string; port: number }[]
    if (said.length === count) return said.map(({ address, port }) => (port === 0 ? { socketPath: address } : { host: address, port }))
    await program.next()
  }
}

type Ask = (place: RequestOptions) => Promise<string>

/** A request on a connection of its own: its status and body, or the code of the error. */
const asking =
  (isSecure: boolean): Ask =>
  (place) =>
    new Promise((resolve) => {
      const options = { ...place, path: '/hello', agent: false, rejectUnauthorized: false }
      const asked = (isSecure ? requestSecurely : request)(options, (response) => {
        text(response).then(
          (body) => resolve(`${response.statusCode} ${body}`),
          ({ code }: NodeJS.ErrnoException) => resolve(String(code)),
        )
      })
      asked.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code))).end()
    })

/** The socket's file is gone with its listener. */
const REFUSED = ['ECONNREFUSED', 'ENOENT']

/** Every answer, once, of a client that connects again and again until nothing accepts there. */
async function untilRefused(ask: Ask, isSecure: boolean, place: RequestOptions, first: () => void): Promise<string[]> {
  const answers = new Set<string>()
  for (;;) {
    const begun = performance.now()
    const answer = await ask(place)
    if (REFUSED.includes(answer)) return [...answers]
    if (isSecure && wasLate(answer, begun)) continue
    // The machine may be so slow that the last call is over: refused is answered, too.
    answers.add(/^(200 hello|503 )/.test(answer) ? 'answered' : answer)
    first()
  }
}

const CLIENTS = 4
/**
 * A connection that is under way in the instant of the close is reset without having been accepted
 * (docs/decisions/0018), and a busy machine makes that instant long. Of so many rounds one has to
 * be without, and each has the rest.
 */
const ROUNDS_MAX = 4

test.each([
  ['without TLS', undefined],
  ['with TLS', PAIR],
])('what is accepted on any of three listeners is answered while they close, %s', async (_, tls) => {
  for (let rounds = 1; ; rounds++) {
    const outcomes = await closing(tls)
    const isReset = outcomes.some((answers) => answers.includes('ECONNRESET'))
    if (!isReset || rounds === ROUNDS_MAX) return expect(outcomes).toEqual(outcomes.map(() => ['answered']))
    for (const answers of outcomes) expect(['answered', 'answered,ECONNRESET']).toContain(answers.join())
  }
})

/** What each client was answered, in order of the listeners. */
async function closing(tls: typeof PAIR | undefined): Promise<readonly (readonly string[])[]> {
  const path = join(temporaryFolder(), 'app.sock')
  const tcp = { port: 0, host: '127.0.0.1', tls }
  const program = startServer({ options: { listeners: [tcp, tcp, { path, tls }] } })
  const all = await places(program, 3)
  let waiting = all.length * CLIENTS
  let letGo = (): void => {}
  const allAnswered = new Promise<void>((resolve) => (letGo = resolve))
  const ask = asking(tls !== undefined)
  const outcomes = all.flatMap((place) =>
    Array.from({ length: CLIENTS }, () => {
      let isFirst = true
      return untilRefused(ask, tls !== undefined, place, () => {
        if (isFirst && --waiting === 0) letGo()
        isFirst = false
      })
    }),
  )
  await allAnswered
  program.signal('SIGTERM')
  const answers = await Promise.all(outcomes)
  expect((await program.ended()).code).toBe(0)
  const { requests, connections, errors } = program.report()
  expect({ after: requests.after, cut: requests.cut, forced: connections.forced, errors }).toEqual({
    after: 0,
    cut: [],
    forced: 0,
    errors: [],
  })
  return answers
}
