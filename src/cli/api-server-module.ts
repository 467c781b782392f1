import type { ApiServer } from '../../packages/apiserver/src/api-server.ts'
import type { CompletedConfig } from '../../packages/apiserver/src/config.ts'
import { optionError } from '../base/errors.ts'
import type { Life } from '../lifecycle/life.ts'
import { isLife } from '../model/life/lifecycle-model.ts'
import { type Exports, settledValue } from './user-module.ts'

/** The export of a module that makes its API servers of a config that it is given. */
export const API_SERVER_EXPORT = 'apiServer'

/** Known by its looks: it may have been made by another copy of this package. */
const isApiServer = (given: unknown): given is ApiServer =>
  typeof given === 'object' &&
  given !== null &&
  ['prepare', 'handle', 'handlePrefix'].every((method) => typeof (given as Exports)[method] === 'function')

/** That of an API server, or of a prepared one; undefined for anything else. */
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
export async function apiServerOf(path: string, exports: Exports, config: CompletedConfig): Promise<ApiServer> {
  const make = exports[API_SERVER_EXPORT] as (config: CompletedConfig) => unknown
  const made = await settledValue(make(config))
  if (!isApiServer(made)) throw optionError(`what ${API_SERVER_EXPORT}(config) of ${path} returned`, made, 'what createApiServer() returns')
  return made
}
