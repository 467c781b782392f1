import { type ApiExchange, apiExchangeOf } from '../api-exchange.ts'
import { OBJECT_TYPES } from '../encoding/write-object.ts'
import { goQuote, toError } from '../engine.ts'
import type { ApiHandler } from '../mux/path-mux.ts'
import { sendStatus } from '../status.ts'
import { badRequest, internalError, StatusError } from '../status-errors.ts'
import { verbsOfResource } from './api-group.ts'
import type { Route } from './container.ts'
import { createObject } from './rest/create.ts'
import { deleteCollection, deleteObject } from './rest/delete.ts'
import { passBarriers } from './rest/pass-barriers.ts'
import { patchObject, patchTypesOf } from './rest/patch.ts'
import { getObject, listObjects } from './rest/read.ts'
import { RestRequest, type RestWorld, type ServedResource, type Subresource } from './rest/rest-request.ts'
import { reviewObject } from './rest/review.ts'
import { getScale, patchScale, updateScale } from './rest/scale.ts'
import { updateObject } from './rest/update.ts'
import { watchObjects } from './rest/watch.ts'
import { storageInVersion } from './storage/storage-in-version.ts'

type Verb = (rest: RestRequest) => Promise<void>

const PRODUCES = [...OBJECT_TYPES.map(({ type }) => type), 'application/json;stream=watch']

/** GET of a collection is one of two verbs, as the filters have read it. */
const listOrWatch: Verb = (rest) => (rest.exchange.info.verb === 'watch' ? watchObjects(rest) : listObjects(rest))

/**
 * The routes of one resource, for what its storage can do.
 * @see kubernetes/apiserver pkg/endpoints/installer.go registerResourceHandlers
 */
export function resourceRoutes(base: string, given: ServedResource, world: RestWorld): readonly Route[] {
  const { resource } = given
  const storage = storageInVersion(resource, given.storage, world.failed)
  const served: ServedResource = { resource, storage }
  const verbs = new Set(verbsOfResource(served))
  const route = (template: string, subresource: Subresource, methods: Readonly<Record<string, Verb | false>>): readonly Route[] => {
    const entries = Object.entries(methods).flatMap(([method, verb]) =>
      verb === false ? [] : [[method, handlerOf(served, subresource, verb, world)] as const],
    )
    return entries.length === 0 ? [] : [{ template, methods: new Map(entries), produces: PRODUCES, patches: patchTypesOf(resource) }]
  }
  const can = (verb: string, handler: Verb): Verb | false => verbs.has(verb) && handler
  const reads = verbs.has('list') && (verbs.has('watch') ? listOrWatch : listOrNoWatch)
  const inside = resource.isNamespaced ? `${base}/namespaces/:namespace/${resource.plural}` : `${base}/${resource.plural}`
  const watched = can('watch', watchObjects)
  const watchInside = inside.replace(base, `${base}/watch`)
  return [
    ...route(inside, '', {
      GET: reads,
      POST: can('create', storage.create === undefined ? reviewObject : createObject),
      DELETE: can('deletecollection', deleteCollection),
    }),
    ...route(`${inside}/:name`, '', {
      GET: can('get', getObject),
      PUT: can('update', updateObject),
      PATCH: can('patch', patchObject),
      DELETE: can('delete', deleteObject),
    }),
    ...(resource.hasStatus
      ? route(`${inside}/:name/status`, 'status', {
          GET: can('get', getObject),
          PUT: can('update', updateObject),
          PATCH: can('patch', patchObject),
        })
      : []),
    ...(resource.hasFinalize ? route(`${inside}/:name/finalize`, 'finalize', { PUT: can('update', updateObject) }) : []),
    ...(resource.scale !== undefined
      ? route(`${inside}/:name/scale`, 'scale', {
          GET: can('get', getScale),
          PUT: can('update', updateScale),
          PATCH: can('patch', patchScale),
        })
      : []),
    ...(resource.isNamespaced ? route(`${base}/${resource.plural}`, '', { GET: reads }) : []),
    ...(resource.isNamespaced ? route(`${base}/watch/${resource.plural}`, '', { GET: watched }) : []),
    ...route(watchInside, '', { GET: watched }),
    ...route(`${watchInside}/:name`, '', { GET: watched }),
  ]
}

/** A storage that has no changes to give says so to those who ask for them. */
const listOrNoWatch: Verb = async (rest) => {
  if (rest.exchange.info.verb !== 'watch') return listObjects(rest)
  const { group, plural: kind } = rest.resource
  throw new StatusError({
    message: `watch is not supported on resources of kind ${JSON.stringify(kind)}`,
    reason: 'MethodNotAllowed',
    details: { ...(group !== '' && { group }), kind },
    code: 405,
  })
}

const handlerOf =
  (served: ServedResource, subresource: Subresource, verb: Verb, world: RestWorld): ApiHandler =>
  async (request) => {
    const exchange = apiExchangeOf(request) as ApiExchange
    try {
      checkName(exchange.info.name)
      const rest = new RestRequest(exchange, served, subresource, world)
      passBarriers(rest)
      await verb(rest)
    } catch (thrown) {
      answerFor(exchange, thrown, world)
    }
  }

/**
 * No object has a name that paths and keys would be read otherwise by.
 * @throws StatusError 400
 */
function checkName(name: string): void {
  const [wrong] = /^\.\.?$|[/%]/.exec(name) ?? []
  if (wrong === undefined) return
  const why = wrong.startsWith('.') ? `may not be '${wrong}'` : `may not contain '${wrong}'`
  throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${why}`)
}

function answerFor(exchange: ApiExchange, thrown: unknown, world: RestWorld): void {
  const isAnswer = thrown instanceof StatusError
  if (!isAnswer) world.failed(thrown)
  const { failure } = isAnswer ? thrown : internalError(toError(thrown).message)
  if (!exchange.response.headersSent) sendStatus(exchange, failure)
}
