// Several listeners of one process close while clients connect to each of them without a pause,
// over TCP and a Unix socket, with TLS and without. Fails when: a connection that was accepted has
// no answer, the end is not graceful, or a listener goes on accepting.
import { type RequestOptions, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
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

interface Answer {
  /** Status and body, or the code of the error. */
  readonly text: string
  /** The client's own port; undefined without a TCP connection. */
  readonly port: number | undefined
}

/** A request on a connection of its own. */
function ask(place: RequestOptions, isSecure: boolean): Promise<Answer> {
  return new Promise((resolve) => {
    let port: number | undefined
    const answered = (text: string): void => resolve({ text, port })
    const failed = ({ code }: NodeJS.ErrnoException): void => answered(String(code))
    const options = { ...place, path: '/hello', agent: false, rejectUnauthorized: false }
    const asked = (isSecure ? requestSecurely : request)(options, (response) => {
      text(response).then((body) => answered(`${response.statusCode} ${body}`), failed)
    })
    asked.on('socket', (socket) => socket.once('connect', () => (port = (socket as Socket).localPort)))
    asked.on('error', failed).end()
  })
}

/** The socket's file is gone with its listener. */
const REFUSED = ['ECONNREFUSED', 'ENOENT']

/** Every answer to a client that connects again and again until nothing accepts there. */
async function untilRefused(place: RequestOptions, isSecure: boolean, first: () => void): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  for (;;) {
    const answer = await ask(place, isSecure)
    if (REFUSED.includes(answer.text)) return answers
    answers.push(answer)
    first()
  }
}

const CLIENTS = 4
/** As long as the clients like: it is over when no connection is left. */
const PATIENT = { lastCall: '10s', deadline: '40s' }
const SAYS_ACCEPTED = ['--import', new URL('../fixtures/says-accepted.mjs', import.meta.url).href]

test.each([
  ['without TLS', undefined],
  ['with TLS', PAIR],
])('what is accepted on any of three listeners is answered while they close, %s', async (_, tls) => {
  const path = join(temporaryFolder(), 'app.sock')
  const tcp = { port: 0, host: '127.0.0.1', tls }
  const program = startServer({ options: { ...PATIENT, listeners: [tcp, tcp, { path, tls }] } }, { nodeOptions: SAYS_ACCEPTED })
  const all = await places(program, 3)
  let waiting = all.length * CLIENTS
  let letGo = (): void => {}
  const allAnswered = new Promise<void>((resolve) => (letGo = resolve))
  const clients = all.flatMap((place) =>
    Array.from({ length: CLIENTS }, () => {
      let isFirst = true
      return untilRefused(place, tls !== undefined, () => {
        if (isFirst && --waiting === 0) letGo()
        isFirst = false
      })
    }),
  )
  await allAnswered
  program.signal('SIGTERM')
  const answers = (await Promise.all(clients)).flat()
  expect((await program.ended()).code).toBe(0)
  expect(answers.filter(isAccepted(program, answers)).filter(({ text }) => text !== '200 hello')).toEqual([])
  const { requests, connections, errors } = program.report()
  expect({ after: requests.after, cut: requests.cut, forced: connections.forced, errors }).toEqual({
    after: 0,
    cut: [],
    forced: 0,
    errors: [],
  })
})

/**
 * Whether the server has accepted the connection of an answer, as it says itself: one that was
 * under way in the instant of the close it never had (docs/decisions/0018). The same port comes
 * again in a long run; of a Unix socket, without ports, all are taken for accepted.
 */
function isAccepted({ lines }: TestProcess, answers: readonly Answer[]): (answer: Answer) => boolean {
  const missing = new Map<number | undefined, number>()
  const count = (port: number | undefined, by: number): unknown => missing.set(port, (missing.get(port) ?? 0) + by)
  for (const { port } of answers) count(port, 1)
  for (const line of lines) if (line.startsWith('accepted ')) count(Number(line.slice('accepted '.length)), -1)
  return ({ port }) => port === undefined || (missing.get(port) ?? 0) <= 0
}
