import { optionError } from '../base/errors.ts'
import { isLife } from '../lifecycle/is-life.ts'
import type { Life } from '../lifecycle/life.ts'
import { type Exports, settledValue } from './user-module.ts'

/** The export of a module that makes its API servers of a config that it is given. */
export const API_SERVER_EXPORT = 'apiServer'

/** The part of an API server of `@quiesce/apiserver` that a command needs. */
export interface PreparableServer {
  prepare(): { readonly life: Life }
}

/** Whether it looks like an API server: it may have been made by another copy of its package. */
const isApiServer = (given: unknown): given is PreparableServer =>
  typeof given === 'object' &&
  given !== null &&
  ['prepare', 'handle', 'handlePrefix'].every((method) => typeof (given as Exports)[method] === 'function')

/** The life of an API server, or of a prepared one; undefined for anything else. */
export function lifeOfApiServer(given: unknown): Life | undefined {
  if (isApiServer(given)) return given.prepare().life
  const { life, run } = (typeof given === 'object' && given !== null ? given : {}) as Exports
  return typeof run === 'function' && isLife(life) ? life : undefined
}

/** Whether a module makes its API servers itself. */
export const makesApiServer = (exports: Exports): boolean => typeof exports[API_SERVER_EXPORT] === 'function'

/**
 * The API server that a module makes, which has its delegates.
 * @throws QuiesceError ERR_OPTION_INVALID for something else, and what the function throws
 */
export async function apiServerOf<Server extends PreparableServer>(path: string, exports: Exports, config: unknown): Promise<Server> {
  const make = exports[API_SERVER_EXPORT] as (config: unknown) => unknown
  const made = await settledValue(make(config))
  if (!isApiServer(made)) throw optionError(`what ${API_SERVER_EXPORT}(config) of ${path} returned`, made, 'what createApiServer() returns')
  return made as Server
}
