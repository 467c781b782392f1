import { negotiate } from '../encoding/negotiate.ts'
import { OBJECT_TYPES, writeObject } from '../encoding/write-object.ts'
import { type Clock, respond } from '../engine.ts'
import { firstHeader } from '../first-header.ts'
import { sendNotAcceptable } from '../status.ts'
import type { ApiHandler } from './path-mux.ts'

/** What it calls itself, whatever the server is called. */
const COMPONENT = 'apiserver'

const GROUP = 'config.k8s.io'
const AS_STATUSZ = `g=${GROUP};v=v1beta1;as=Statusz`
const TEXT = { type: 'text/plain' }
const OFFERED = [...OBJECT_TYPES.map(({ type }) => ({ type, as: AS_STATUSZ })), TEXT]
const ACCEPTED = OFFERED.map(({ type }) => type)

/** The folders of the API itself, which say nothing about the server, and the page's own. */
const NOT_FOR_DEBUGGING: ReadonlySet<string> = new Set(['/api', '/apis', '/openapi', '/openid', '/.well-known', '/statusz'])

/**
 * Says what runs, and since when, which is since now: as text for people, and as an object for
 * programs that ask for exactly that one.
 * @see kubernetes/apiserver pkg/server/statusz
 */
export function statuszPage(clock: Clock, binaryVersion: string, listedPaths: () => readonly string[]): ApiHandler {
  const startedAt = clock.wall()
  return (request, response) => {
    const chosen = firstHeader(request, 'accept') === '' ? TEXT : negotiate(request, OFFERED)?.form
    if (chosen === undefined) return sendNotAcceptable({ request, response }, ACCEPTED)
    const uptimeSeconds = Math.floor((clock.wall() - startedAt) / 1_000)
    const paths = folders(listedPaths())
    if (chosen !== TEXT) {
      const startTime = new Date(startedAt).toISOString().replace(/\.\d+/, '')
      const metadata = { name: COMPONENT }
      const value = { kind: 'Statusz', apiVersion: `${GROUP}/v1beta1`, metadata, startTime, uptimeSeconds, binaryVersion, paths }
      return writeObject(request, response, 200, { value, as: AS_STATUSZ })
    }
    const lines = [
      '',
      `${COMPONENT} statusz`,
      'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.',
      '',
      `Started: ${unixDate(startedAt)}`,
      `Up: ${uptimeText(uptimeSeconds)}`,
      `Node version: ${process.version}`,
      `Binary version: ${binaryVersion}`,
      `Paths: ${paths.join(' ')}`,
      '',
    ]
    return respond(response, { status: 200, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body: lines.join('\n') })
  }
}

/** The folders of paths by their first segments, each once, in the order of the listed paths. */
const folders = (listedPaths: readonly string[]): readonly string[] =>
  [...new Set(listedPaths.map((path) => `/${path.split('/')[1]}`))].filter((folder) => !NOT_FOR_DEBUGGING.has(folder))

/** A time as Go's `time.UnixDate`: `Wed Oct 16 21:03:43 UTC 2024`. */
function unixDate(at: number): string {
  const [weekday, day, month, year, time] = new Date(at).toUTCString().split(/,? /)
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`
}

function uptimeText(seconds: number): string {
  const [minutes, rest] = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, '0'))
  return `${Math.floor(seconds / 3_600)} hr ${minutes} min ${rest} sec`
}
