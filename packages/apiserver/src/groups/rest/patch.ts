import { auditRequestObject } from '../../audit/request-audit.ts'
import { goQuote } from '../../engine.ts'
import { badRequest, type StatusError } from '../../status-errors.ts'
import { type ApiObject, isFields } from '../api-object.ts'
import { isOfMember, jsonPatch, readJsonPatch, unknownMembers } from '../json-patch.ts'
import { mergePatch } from '../merge-patch.ts'
import type { Resource } from '../resource/define-resource.ts'
import { strategicMergePatch } from '../strategic-merge-patch.ts'
import { type Decoding, decodeValue, type ReadValue, readValue, SHOWN_MAX } from './decode.ts'
import { writeOptions } from './options.ts'
import { negotiateOutput, objectAs, send } from './output.ts'
import { takeName, takeNamespace } from './prepare.ts'
import { contentTypeOf, readBody } from './read-body.ts'
import type { RestRequest } from './rest-request.ts'
import { changeStored } from './update.ts'

const JSON_PATCH = 'application/json-patch+json'
const MERGE_PATCH = 'application/merge-patch+json'
const STRATEGIC_MERGE_PATCH = 'application/strategic-merge-patch+json'

/**
 * The patches that are taken of a kind, others are 415. Clients send strategic ones for kinds that
 * are compiled into them, whatever OpenAPI says.
 */
export const patchTypesOf = ({ protobuf }: Resource): readonly string[] =>
  protobuf === undefined ? [JSON_PATCH, MERGE_PATCH] : [JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH]

/** @see kubernetes/apiserver pkg/endpoints/handlers/patch.go PatchResource */
export async function patchObject(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'one')
  const text = await readBody(rest.request, rest.world.bodyMax)
  const { isDryRun, fieldValidation } = writeOptions(rest, 'PatchOptions')
  const { change, read, sent } = await readPatch(contentTypeOf(rest.request), text, rest.resource)
  auditRequestObject(rest.request, sent)
  const decoding: Decoding = { part: rest.part, fieldValidation, warn: rest.warnOnce }
  const make = (old: ApiObject) => {
    const patched = change(old)
    if (!isFields(patched)) throw badRequest('the patch makes no object of it')
    const decoded = decodeValue(rest.resource, { ...read, value: patched }, decoding)
    const { metadata } = decoded.object
    takeNamespace(rest, decoded.object)
    takeName(rest, decoded.object)
    // It has that of the object it was made from, unless the patch names one.
    if (metadata.resourceVersion === undefined && old.metadata.resourceVersion !== undefined)
      metadata.resourceVersion = old.metadata.resourceVersion
    return decoded
  }
  return send(rest, output, 200, objectAs(rest, output, await changeStored(rest, make, isDryRun)))
}

interface Patch {
  readonly change: (old: ApiObject) => unknown
  /** What only its text says. */
  readonly read: Omit<ReadValue, 'value'>
  /** The value of the patch itself. */
  readonly sent: unknown
}

const invalid = (): StatusError => badRequest('invalid JSON patch')
const UNREADABLE = 'error decoding patch: '

/** @throws StatusError 400, 413, 422 */
export async function readPatch(type: string, text: string, { schema }: Resource): Promise<Patch> {
  if (type === JSON_PATCH) {
    const { value: sent, duplicates } = await readValue(text, false, UNREADABLE, () => '')
    const operations = readJsonPatch(sent)
    const passedOver = [
      // An unknown member is reported as unknown, whatever is repeated in it.
      ...duplicates.filter(isOfMember).map((path) => `json patch duplicate field ${goQuote(path)}`),
      ...unknownMembers(sent, SHOWN_MAX).map((path) => `json patch unknown field ${goQuote(path)}`),
    ]
    return { change: (old) => jsonPatch(old, operations), read: { duplicates: [], passedOver }, sent }
  }
  if (!isJson(text)) throw invalid()
  const { value: sent, duplicates } = await readValue(text, false, UNREADABLE, () => '')
  if (!isFields(sent)) throw invalid()
  const change = type === STRATEGIC_MERGE_PATCH ? strategicMergePatch : mergePatch
  return { change: (old) => change(old, sent, schema), read: { duplicates }, sent }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
