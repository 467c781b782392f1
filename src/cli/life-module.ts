import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Property } from '#model'
import { optionError, QuiesceError, show, toError } from '../base/errors.ts'
import { importOnly } from '../base/import-only.ts'
import { isLife } from '../lifecycle/is-life.ts'
import type { Life } from '../lifecycle/life.ts'
import { file } from '../options/kit/kinds.ts'
import { apiServerOf, lifeOfApiServer, makesApiServer } from './api-server-module.ts'
import { API_SERVER_PACKAGE } from './api-server-program.ts'
import { firstLine } from './first-line.ts'
import { withoutListening } from './module-listens.ts'
import { type Exports, importModule, settledValue } from './user-module.ts'

/**
 * A user's life from an ES module, for the commands that look at it without starting it. A module,
 * because hooks are functions: the default export is a life, or a function, which may be async,
 * that makes one; `properties` may be a list of further properties to check.
 */
export interface LifeModule {
  readonly life: Life
  readonly properties: readonly Property[]
}

export const LIFE_MODULE_ALLOWED = 'an ES module whose default export is a server, or a function that makes one'

/** The option of such a module. */
export const lifeModule = () => file(LIFE_MODULE_ALLOWED)

/**
 * @throws QuiesceError ERR_OPTION_INVALID in one line; ERR_IMPORT_ONLY, when the module runs or
 * starts its server itself
 */
export async function readLifeModule(label: string, path: string): Promise<LifeModule> {
  try {
    return await lifeModuleAt(label, path)
  } catch (thrown) {
    if (thrown instanceof QuiesceError) throw thrown
    // What the module exports may fail as it is looked at, by a getter or a proxy.
    throw optionError(label, path, `${LIFE_MODULE_ALLOWED} (it failed: ${firstLine(toError(thrown).message)})`, thrown)
  }
}

async function lifeModuleAt(label: string, path: string): Promise<LifeModule> {
  const look = async (): Promise<{ module: Exports; life: unknown }> => {
    const module = await importModule(label, path, LIFE_MODULE_ALLOWED)
    const made: unknown = module['default'] ?? (makesApiServer(module) ? () => madeApiServer(path, module) : undefined)
    if (typeof made !== 'function') return { module, life: made }
    // An app of Express or Connect is a function as well.
    return { module, life: isApp(made) ? made : await called(label, path, made as () => unknown) }
  }
  const { module, life: found } = await withoutListening(label, path, () => importOnly(look))
  const life = lifeOfApiServer(found) ?? found
  if (!isLife(life) && hasLife(life)) throw optionError(label, path, `${LIFE_MODULE_ALLOWED} (it is ${show(life)}: export its lifecycle)`)
  if (!isLife(life) && isApp(life)) throw optionError(label, path, `${LIFE_MODULE_ALLOWED} (${APP_HAS_NO_LIFE})`)
  if (!isLife(life)) throw optionError(label, path, `${LIFE_MODULE_ALLOWED} (it is ${show(life)})`)
  const properties = module['properties'] ?? []
  if (!Array.isArray(properties) || !properties.every(isProperty))
    throw optionError(`properties in ${path}`, properties, 'a list of properties, each with id, text and violation')
  return { life: life as unknown as Life, properties }
}

/** The API server with the config of code: a command that looks has no flags for it. */
async function madeApiServer(path: string, module: Exports): Promise<unknown> {
  const { completeConfig } = await apiServerPackage(path)
  return apiServerOf(path, module, completeConfig({ logger: false }))
}

/** The package that the module itself has. */
async function apiServerPackage(path: string): Promise<{ completeConfig(config: { readonly logger: false }): unknown }> {
  const file = createRequire(resolve(path)).resolve(API_SERVER_PACKAGE)
  return import(pathToFileURL(file).href) as Promise<{ completeConfig(config: { readonly logger: false }): unknown }>
}

const APP_HAS_NO_LIFE =
  'it is an app or a server without a lifecycle: export what createServer(app), attachLifecycle(server) or a framework’s helper returned'

/** Whether it looks like an app: a router, or something that listens or answers. */
const isApp = (given: unknown): boolean =>
  ((typeof given === 'object' && given !== null) || typeof given === 'function') &&
  ['use', 'listen', 'fetch'].some((method) => typeof (given as Exports)[method] === 'function')

async function called(label: string, path: string, make: () => unknown): Promise<unknown> {
  try {
    return await settledValue(make())
  } catch (thrown) {
    throw optionError(label, path, `${LIFE_MODULE_ALLOWED} (it failed: ${firstLine(toError(thrown).message)})`)
  }
}

/** An app with the plugin of quiesce/fastify. */
const hasLife = (given: unknown): boolean => typeof given === 'object' && given !== null && 'life' in given && isLife(given.life)

const isProperty = (given: unknown): given is Property =>
  typeof given === 'object' &&
  given !== null &&
  typeof (given as Property).id === 'string' &&
  typeof (given as Property).violation === 'function'
