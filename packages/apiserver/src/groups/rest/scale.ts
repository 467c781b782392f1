import { auditRequestObject } from '../../audit/request-audit.ts'
import { badRequest, internalError } from '../../status-errors.ts'
import { type ApiObject, isFields } from '../api-object.ts'
import type { ScalePaths } from '../resource/define-resource.ts'
import { scaledTo, scaleKind, scaleOf, UNSET_REPLICAS } from '../resource/scale.ts'
import { type Decoded, decodeAgain, decodeBody, decodeValue } from './decode.ts'
import { writeOptions } from './options.ts'
import { negotiateOutput, objectAs, send } from './output.ts'
import { readPatch } from './patch.ts'
import { refuseInvalid, takeName, takeNamespace } from './prepare.ts'
import { storedObject } from './read.ts'
import { contentTypeOf, isYaml, readBody } from './read-body.ts'
import type { RestRequest } from './rest-request.ts'
import { changeStored } from './update.ts'

/** @see kubernetes/apiextensions-apiserver pkg/registry/customresource/etcd.go ScaleREST.Get */
export async function getScale(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'one')
  return send(rest, output, 200, objectAs(ofScale(rest), output, currentScale(rest, await storedObject(rest))))
}

/** @see kubernetes/apiextensions-apiserver pkg/registry/customresource/etcd.go ScaleREST.Update */
export async function updateScale(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'one')
  const ofYaml = isYaml(rest.request)
  const text = await readBody(rest.request, rest.world.bodyMax)
  const { isDryRun, fieldValidation } = writeOptions(rest, 'UpdateOptions')
  const decoded = await decodeBody(scaleKind(rest.resource), text, ofYaml, { part: 'all', fieldValidation, warn: rest.warnOnce })
  auditRequestObject(rest.request, decoded.object)
  const scaled = await changeStored(rest, (old) => scaledBy(rest, old, decoded), isDryRun)
  return send(rest, output, 200, objectAs(ofScale(rest), output, currentScale(rest, scaled)))
}

export async function patchScale(rest: RestRequest): Promise<void> {
  const output = negotiateOutput(rest, 'one')
  const text = await readBody(rest.request, rest.world.bodyMax)
  const { isDryRun, fieldValidation } = writeOptions(rest, 'PatchOptions')
  const { change, read, sent } = await readPatch(contentTypeOf(rest.request), text, rest.resource)
  auditRequestObject(rest.request, sent)
  const make = (old: ApiObject): Decoded => {
    const value = change(currentScale(rest, old, UNSET_REPLICAS))
    if (!isFields(value)) throw badRequest('the patch makes no object of it')
    return scaledBy(
      rest,
      old,
      decodeValue(scaleKind(rest.resource), { ...read, value }, { part: 'all', fieldValidation, warn: rest.warnOnce }),
    )
  }
  const scaled = await changeStored(rest, make, isDryRun)
  return send(rest, output, 200, objectAs(ofScale(rest), output, currentScale(rest, scaled)))
}

/** The request of a scale, for the columns of a table. */
const ofScale = (rest: RestRequest): RestRequest => rest.of(scaleKind(rest.resource))

const pathsOf = ({ resource }: RestRequest): ScalePaths => resource.scale as ScalePaths

/** @throws StatusError 500 for an object that does not say how many there are to be */
function currentScale(rest: RestRequest, object: ApiObject, unset?: number): ApiObject {
  const paths = pathsOf(rest)
  const scale = scaleOf(object, paths, unset)
  if (scale === undefined) throw internalError(`the spec replicas field "${paths.specReplicasPath}" does not exist`)
  return scale
}

/** What is stored, with as many as a scale asks for. */
function scaledBy(rest: RestRequest, old: ApiObject, { object: scale, errors }: Decoded): Decoded {
  const { metadata } = scale
  takeNamespace(rest, scale)
  takeName(rest, scale)
  const { spec } = scale
  if (isFields(spec) && spec['replicas'] === UNSET_REPLICAS)
    throw badRequest(`the spec replicas field "${pathsOf(rest).specReplicasPath}" cannot be empty`)
  const kind = scaleKind(rest.resource)
  const wrong = [...errors, ...(errors.length === 0 ? (kind.strategy.validate?.(scale, undefined) ?? []) : [])]
  refuseInvalid(rest.of(kind), metadata.name, wrong)
  const object = scaledTo(old, scale, pathsOf(rest))
  const { uid = old.metadata.uid, resourceVersion = old.metadata.resourceVersion } = metadata
  const given = { ...old.metadata, ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) }
  return decodeAgain(rest.resource, { ...object, metadata: given }, rest.part)
}
