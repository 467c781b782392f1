import { Hono } from 'hono'
import type { Clock } from '../base/clock.ts'
import { PROFILE_PATHS, PROFILES } from '../endpoints/profile-names.ts'
import type { Health } from '../http/health/health.ts'
import { type Answer, textAnswer } from '../http/respond.ts'
import { toResponse } from './answer.ts'
import { healthApp } from './health-routes.ts'
import { pathAsRead } from './node-listener.ts'
import { profileApp } from './profile-routes.ts'

/** What is served, and in which words the index says so. */
const PATHS = {
  '/debug/life': 'the report so far, what is in flight, and how far the end has come',
  '/debug/handles': 'what keeps the process alive, by kind',
  [PROFILE_PATHS.profile]: PROFILES.profile,
  [PROFILE_PATHS.heap]: PROFILES.heap,
}

const INDEX = Object.entries(PATHS)
  .map(([path, what]) => `${path}\n    ${what}`)
  .join('\n')

export interface DebugSources {
  /** Undefined: health is not answered. */
  readonly health: Health | undefined
  readonly clock: Clock
  /** Plain data about the life, taken when it is asked for. */
  readonly look: () => unknown
  /** What keeps the process alive, one name each. */
  readonly resources: () => readonly string[]
}

/** The routes for the user of the process, whatever the method. */
export function debugApp({ health, clock, look, resources }: DebugSources): Hono {
  const app = new Hono({ getPath: pathAsRead })
  if (health) app.route('/', healthApp(health))
  app.all('/', () => toResponse(textAnswer(200, INDEX)))
  app.all('/debug/life', () => toResponse(json(look())))
  app.all('/debug/handles', () => toResponse(json(counted(resources()))))
  app.route(
    '/',
    profileApp(clock, (_, next) => next()),
  )
  app.notFound(() => toResponse(textAnswer(404, INDEX)))
  return app
}

const json = (value: unknown): Answer => ({
  status: 200,
  headers: { 'Content-Type': 'application/json' },
  body: `${JSON.stringify(value, undefined, 2)}\n`,
})

function counted(kinds: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}
