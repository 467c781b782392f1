import type { ServerResponse } from 'node:http'
import type { Session } from 'node:inspector/promises'
import { pipeline } from 'node:stream/promises'
import { getHeapSnapshot } from 'node:v8'
import type { Clock } from '../base/clock.ts'
import { toError } from '../base/errors.ts'
import { queryOf } from '../http/request-info.ts'
import { type Answer, PLAIN_TEXT, respond } from '../http/respond.ts'
import { type ProfileName, SECONDS_DEFAULT, SECONDS_MAX } from './profile-names.ts'

/** There is one profiler in a process, for all that ask. */
let isProfiling = false

/**
 * Answers with a profile. One that takes time ends early with its client, or when `signal` is
 * aborted: what was taken by then is sent. A heap snapshot is broken off by it.
 * @param url of the request, for what it asks for
 */
export function sendProfile(name: ProfileName, url: string, response: ServerResponse, clock: Clock, signal?: AbortSignal): void {
  const failed = (error: unknown): void => respond(response, plainAnswer(500, toError(error).message))
  if (name === 'heap') {
    sendSnapshot(response, signal).catch(failed)
    return
  }
  const seconds = Number(queryOf(url).get('seconds') ?? SECONDS_DEFAULT)
  if (!(seconds > 0 && seconds <= SECONDS_MAX)) {
    respond(response, plainAnswer(400, `seconds: above 0, at most ${SECONDS_MAX}`))
    return
  }
  if (isProfiling) {
    respond(response, plainAnswer(409, 'a profile is being taken'))
    return
  }
  isProfiling = true
  profile(clock, seconds, response, signal)
    .catch(failed)
    .finally(() => {
      isProfiling = false
    })
}

export const plainAnswer = (status: number, text: string): Answer => ({
  status,
  headers: PLAIN_TEXT,
  body: `${text}\n`,
})

const fileHeaders = (name: string) => ({
  'Content-Type': 'application/json',
  'Content-Disposition': `attachment; filename="${name}-${process.pid}"`,
})

async function sendSnapshot(response: ServerResponse, signal?: AbortSignal): Promise<void> {
  // What can fail comes before the head: a failure is an answer, too.
  const snapshot = getHeapSnapshot()
  response.writeHead(200, fileHeaders('heap.heapsnapshot'))
  // A client that leaves has seen enough, and one that reads slowly is not waited for by a drain.
  await pipeline(snapshot, response, { signal }).catch(() => {})
}

async function profile(clock: Clock, seconds: number, response: ServerResponse, signal?: AbortSignal): Promise<void> {
  // A client that leaves while the profiler starts is not waited for either.
  let isLeft = false
  const left = new Promise<void>((resolve) => {
    response.once('close', () => {
      isLeft = true
      resolve()
    })
  })
  const { Session: Inspector } = await import('node:inspector/promises')
  const session: Session = new Inspector()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clock.clearTimeout(timer)
        resolve()
      }
      const timer = clock.setTimeout(end, seconds * 1_000)
      void left.then(end)
      signal?.addEventListener('abort', end)
      if (signal?.aborted) end()
    })
    const { profile: taken } = await session.post('Profiler.stop')
    if (isLeft) return
    const text = JSON.stringify(taken)
    response.writeHead(200, fileHeaders('cpu.cpuprofile'))
    response.end(text)
  } finally {
    session.disconnect()
  }
}
