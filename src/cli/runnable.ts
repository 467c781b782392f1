import type { RequestListener, Server } from 'node:http'
import { didYouMean } from '../base/did-you-mean.ts'
import { optionError, QuiesceError, show } from '../base/errors.ts'
import type { FetchHandler, Handler } from '../create-server.ts'
import { type ClosableApp, closeWithLife } from '../frameworks/nest-close.ts'
import type { Life } from '../lifecycle/life.ts'
import { lifeOfApiServer } from './api-server-module.ts'
import type { Exports } from './user-module.ts'

/** What an export of a user's module is, to `quiesce run`: known by its looks. */
export type Runnable =
  /** It has its own options. */
  | { readonly kind: 'life'; readonly life: Life }
  /** It is given a server. */
  | { readonly kind: 'handler'; readonly handler: Handler }
  /** It has a server, which is made to listen. */
  | {
      readonly kind: 'server'
      readonly server: Server
      /** What has to be done before it listens. */
      readonly ready?: () => unknown
      /** Has the life run its own closing hooks. */
      readonly closeWith?: (life: Life) => void
    }

/** What is given to `quiesce run`. */
export const APP_ALLOWED = 'an ES or CommonJS module that exports an app or a server'

const EXPORT_ALLOWED =
  'an app of Hono, Express, Koa, Fastify or NestJS, an object with fetch, a fetch function (request), a node listener (req, res), ' +
  'an http.Server that does not listen yet, or what createServer(), attachLifecycle(), createLife() or createApiServer() returned'

/** An export of a module, named as in messages. */
export interface ModuleExport {
  readonly label: string
  readonly value: unknown
}

/**
 * The export that is to be run.
 * @throws QuiesceError ERR_OPTION_INVALID when there is none of that name
 */
export function chooseExport(exports: Exports, name: string, path: string): ModuleExport {
  const label = name === 'default' ? `default export of ${path}` : `export ${name} of ${path}`
  if (!Object.hasOwn(exports, name) && !hasOwn(exports['default'], name)) {
    // What `module.exports = app` has of its own is no list of exports.
    const names = Object.keys(exports).filter((each) => each !== 'module.exports')
    if (name === 'default')
      throw new QuiesceError('ERR_OPTION_INVALID', `${label}: got none, allowed: ${EXPORT_ALLOWED}${otherNames(names)}`)
    throw optionError('--export', name, `an export of ${path}: ${names.join(', ') || 'it has none'}${didYouMean(name, names)}`)
  }
  const value = Object.hasOwn(exports, name) ? exports[name] : (exports['default'] as Exports)[name]
  // What compilers make of `export default` in CommonJS.
  return { label, value: name === 'default' && hasOwn(value, '__esModule') && hasOwn(value, 'default') ? value['default'] : value }
}

const otherNames = (names: readonly string[]): string =>
  names.length > 0 ? `; it exports ${names.join(', ')}: --export NAME runs one of these` : ''

/**
 * What an export is. A function is a node listener when it takes two arguments or more, and a fetch
 * function otherwise: only its first answer would tell for certain.
 * @throws QuiesceError ERR_OPTION_INVALID for what cannot be run
 */
export function runnableOf({ label, value }: ModuleExport): Runnable {
  const is = (...methods: readonly string[]): boolean =>
    methods.every((method) => typeof (value as Exports | null)?.[method] === 'function')
  const given = value as never
  if (typeof value === 'function') return { kind: 'handler', handler: ofFunction(label, value, is('handle') || is('listen')) }
  if (typeof value !== 'object' || value === null) throw optionError(label, value, EXPORT_ALLOWED)
  if (is('run', 'plan')) return { kind: 'life', life: given }
  const life = lifeOfApiServer(value)
  if (life) return { kind: 'life', life }
  if (is('getHttpServer', 'init', 'close')) return ofNest(given)
  if (is('ready', 'close', 'inject') && isServer((value as Exports)['server'])) return ofFastify(label, given)
  if (isServer(value)) return ofServer(label, value)
  if (is('callback', 'use')) return { kind: 'handler', handler: { listener: (given as Koa).callback() } }
  if (is('fetch') || is('listener')) return { kind: 'handler', handler: given }
  throw optionError(label, value, EXPORT_ALLOWED)
}

function ofFunction(label: string, given: object, isListener: boolean): Handler {
  if (/^class\b/.test(Function.prototype.toString.call(given))) throw optionError(label, 'a class', EXPORT_ALLOWED)
  const takes = (given as { readonly length: number }).length
  return isListener || takes >= 2
    ? { listener: neverAnswering(given as RequestListener, label) }
    : makingNoLife(given as FetchFunction, label)
}

type FetchFunction = Extract<FetchHandler, (...args: never) => unknown>

/** A function that makes a life looks like a fetch function; only what it returns does not. */
const makingNoLife =
  (handle: FetchFunction, label: string): FetchFunction =>
  (...args: Parameters<FetchFunction>) => {
    const answer: unknown = handle(...args)
    if (isThenable(answer)) return answer.then((late) => refuseLife(late, label)) as never
    return refuseLife(answer, label) as never
  }

function refuseLife(answer: unknown, label: string): unknown {
  const { run, plan } = (answer ?? {}) as Exports
  if (typeof run !== 'function' || typeof plan !== 'function') return answer
  throw new QuiesceError(
    'ERR_OPTION_INVALID',
    `${label}: the exported function was called as a fetch function (request), and returned a server: export the server itself (export default await make())`,
  )
}

/** A fetch function that was taken for a listener would leave its client without an answer. */
const neverAnswering =
  (listener: RequestListener, label: string): RequestListener =>
  (request, response) => {
    const answer: unknown = listener(request, response)
    if (!isThenable(answer)) return refuseResponse(answer, label)
    return answer.then((late) => refuseResponse(late, label)) as unknown
  }

function refuseResponse(answer: unknown, label: string): void {
  if (!(answer instanceof Response)) return
  throw new QuiesceError(
    'ERR_OPTION_INVALID',
    `${label}: a function of two arguments is a node listener (req, res), and this one returned ${show(answer)}; a fetch function of two arguments is exported as { fetch }`,
  )
}

interface Koa {
  callback(): RequestListener
}

interface Nest extends ClosableApp {
  getHttpServer(): unknown
  init(): unknown
}

const ofNest = (app: Nest): Runnable => ({
  kind: 'server',
  server: app.getHttpServer() as Server,
  ready: () => app.init(),
  closeWith: (life) => closeWithLife(app, life),
})

interface Fastify {
  readonly server: Server
  ready(): PromiseLike<unknown>
  close(): unknown
}

const ofFastify = (label: string, app: Fastify): Runnable => ({
  ...ofServer(label, app.server),
  ready: async () => void (await app.ready()),
  closeWith: (life) => void life.addDestroy('fastify', () => app.close()),
})

function ofServer(label: string, server: Server): Runnable & { readonly kind: 'server' } {
  if (server.listening) throw optionError(label, 'a server that listens already', `${EXPORT_ALLOWED}; quiesce run calls listen() itself`)
  return { kind: 'server', server }
}

const isServer = (given: unknown): given is Server =>
  typeof given === 'object' && given !== null && 'listening' in given && typeof (given as Partial<Server>).listen === 'function'

const hasOwn = <Name extends string>(given: unknown, name: Name): given is Readonly<Record<Name, unknown>> =>
  ((typeof given === 'object' && given !== null) || typeof given === 'function') && Object.hasOwn(given, name)

const isThenable = (given: unknown): given is PromiseLike<unknown> =>
  typeof (given as PromiseLike<unknown> | undefined)?.then === 'function'
