import { auditRequestObject } from '../../audit/request-audit.ts'
import { generatedName } from '../../names.ts'
import { alreadyExists, badRequest, generatedNameTaken } from '../../status-errors.ts'
import { hasAdmission, mutateBy, validateBy } from '../admission/admit.ts'
import { type ApiObject, keyOf } from '../api-object.ts'
import { throughStorage } from '../storage/storage-in-version.ts'
import { type Decoded, decodeAgain } from './decode.ts'
import { writeOptions } from './options.ts'
import { negotiateOutput, objectAs, send } from './output.ts'
import { prepareCreate, takeNamespace } from './prepare.ts'
import { readSent } from './read-sent.ts'
import type { RestRequest } from './rest-request.ts'

/** How many names are made up before a client is sent away. */
const GENERATED_TRIES = 8

/** @see kubernetes/apiserver pkg/endpoints/handlers/create.go createHandler */
export async function createObject(rest: RestRequest): Promise<void> {
  const { world, exchange } = rest
  const output = negotiateOutput(rest, 'one')
  const decode = await readSent(rest)
  const { isDryRun, fieldValidation } = writeOptions(rest, 'CreateOptions')
  const warn = (warning: string): void => world.warn(exchange, warning)
  const read = await decode({ part: rest.part, fieldValidation, warn })
  takeNamespace(rest, read.object)
  takeNoVersion(read.object)
  auditRequestObject(rest.request, read.object)
  const isAdmitted = hasAdmission(rest)
  const decoded = isAdmitted ? await mutated(rest, read, isDryRun) : read
  const { metadata } = decoded.object
  const { generateName } = metadata
  const isGenerated = metadata.name === '' && generateName !== undefined
  for (let tries = 1; ; tries++) {
    const name = isGenerated ? generatedName(generateName, world.random) : metadata.name
    const object = prepareCreate(rest, decoded, name)
    if (isAdmitted) await validateBy(rest, { operation: 'CREATE', object, oldObject: undefined, isDryRun })
    const stored = isDryRun ? await ifFree(rest, (await throughStorage(rest.resource, object)).again) : await rest.storage.create(object)
    if (stored !== undefined) return send(rest, output, 201, objectAs(rest, output, stored))
    if (!isGenerated) throw alreadyExists(rest.qualified, name, await isBeingDeleted(rest, object))
    if (tries === GENERATED_TRIES) throw generatedNameTaken(rest.qualified, name)
  }
}

/** What is new has no version yet; `0` says so, too. */
function takeNoVersion({ metadata }: ApiObject): void {
  if ((metadata.resourceVersion ?? '0') !== '0') throw badRequest('resourceVersion should not be set on objects to be created')
  delete metadata.resourceVersion
}

/** The object as it would be stored; undefined: its key is taken. */
const ifFree = async (rest: RestRequest, object: ApiObject): Promise<ApiObject | undefined> =>
  (await rest.storage.get?.(keyOf(object))) === undefined ? object : undefined

/** Whether the object that has the key will be gone: a client that waits can have it then. */
const isBeingDeleted = async (rest: RestRequest, object: ApiObject): Promise<boolean> =>
  (await rest.storage.get?.(keyOf(object)))?.metadata.deletionTimestamp !== undefined

/** The object as plugins have left it. */
async function mutated(rest: RestRequest, decoded: Decoded, isDryRun: boolean): Promise<Decoded> {
  const { object } = decoded
  const isMutated = await mutateBy(rest, { operation: 'CREATE', object, oldObject: undefined, isDryRun })
  return isMutated ? decodeAgain(rest.resource, object, rest.part) : decoded
}
