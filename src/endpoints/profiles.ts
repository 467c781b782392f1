import type { ServerResponse } from 'node:http'
import type { Session } from 'node:inspector/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { getHeapSnapshot } from 'node:v8'
import type { Clock } from '../base/clock.ts'
import { toError } from '../base/errors.ts'
import { type Answer, respond, textAnswer } from '../http/respond.ts'
import { queryOf } from '../http/url.ts'
import { type ProfileName, SECONDS_DEFAULT, SECONDS_MAX } from './profile-names.ts'

/** A snapshot is sent as it is made: it is as large as the heap. */
export interface SnapshotAnswer extends Omit<Answer, 'body'> {
  readonly body: Readable
}

export type ProfileAnswer = Answer | SnapshotAnswer

interface ProfileRequest {
  /** What the request asks for. */
  readonly query: URLSearchParams
  readonly clock: Clock
  /** Aborted when the client has left: nothing is answered then. */
  readonly left: AbortSignal
  /** Aborted when the request has to end: what was taken by then is the profile. */
  readonly signal?: AbortSignal | undefined
}

/** The one profiler of the process is in use. */
let isProfiling = false

/**
 * A profile, in the same step where nothing has to be taken; undefined for a client that has left.
 * What fails is an answer, too.
 */
export function takeProfile(name: ProfileName, request: ProfileRequest): ProfileAnswer | Promise<ProfileAnswer | undefined> {
  if (name === 'heap') return snapshot()
  const seconds = Number(request.query.get('seconds') ?? SECONDS_DEFAULT)
  if (!(seconds > 0 && seconds <= SECONDS_MAX)) return textAnswer(400, `seconds: above 0, at most ${SECONDS_MAX}`)
  if (isProfiling) return textAnswer(409, 'a profile is being taken')
  isProfiling = true
  return profile(seconds, request)
    .catch(failed)
    .finally(() => {
      isProfiling = false
    })
}

/**
 * Answers with a profile. One that takes time ends early with its client, or when `signal` is
 * aborted: what was taken by then is sent. A heap snapshot is broken off by it.
 * @param url of the request, for what it asks for
 */
export function sendProfile(name: ProfileName, url: string, response: ServerResponse, clock: Clock, signal?: AbortSignal): void {
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  const taken = takeProfile(name, { query: queryOf(url), clock, left: leaving.signal, signal })
  if (taken instanceof Promise) void taken.then((answer) => answer && send(answer, response, signal))
  else send(taken, response, signal)
}

function send(answer: ProfileAnswer, response: ServerResponse, signal: AbortSignal | undefined): void {
  if (!isSnapshot(answer)) {
    respond(response, answer)
    return
  }
  response.writeHead(answer.status, answer.headers)
  // A client that leaves has seen enough, and one that reads slowly is not waited for by a drain.
  pipeline(answer.body, response, { signal }).catch(() => {})
}

export const isSnapshot = (answer: ProfileAnswer): answer is SnapshotAnswer => typeof answer.body !== 'string'

const failed = (error: unknown): Answer => textAnswer(500, toError(error).message)

/** How a profile is sent, before it is taken. */
export const profileHeaders = (name: ProfileName) => ({
  'Content-Type': 'application/json',
  'Content-Disposition': `attachment; filename="${FILE_NAMES[name]}-${process.pid}"`,
})

const FILE_NAMES: Readonly<Record<ProfileName, string>> = { profile: 'cpu.cpuprofile', heap: 'heap.heapsnapshot' }

function snapshot(): ProfileAnswer {
  try {
    return { status: 200, headers: profileHeaders('heap'), body: getHeapSnapshot() }
  } catch (error) {
    return failed(error)
  }
}

async function profile(seconds: number, { clock, left, signal }: ProfileRequest): Promise<Answer | undefined> {
  const { Session: Inspector } = await import('node:inspector/promises')
  const session: Session = new Inspector()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    // A client that leaves while the profiler starts is not waited for either.
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clock.clearTimeout(timer)
        resolve()
      }
      const timer = clock.setTimeout(end, seconds * 1_000)
      for (const ending of [left, signal]) {
        ending?.addEventListener('abort', end)
        if (ending?.aborted) end()
      }
    })
    const { profile: taken } = await session.post('Profiler.stop')
    return left.aborted ? undefined : { status: 200, headers: profileHeaders('profile'), body: JSON.stringify(taken) }
  } finally {
    session.disconnect()
  }
}
