import { auditRequestObject } from '../../audit/request-audit.ts'
import { AUTHORIZER } from '../../authorization/authorizer.ts'
import { PROTOBUF_TYPE, readProtobufObject } from '../protobuf/object.ts'
import { type Decoded, type Decoding, decodeBody, decodeValue } from './decode.ts'
import { writeOptions } from './options.ts'
import { negotiateOutput, objectAs, send } from './output.ts'
import { refuseInvalid } from './prepare.ts'
import { contentTypeOf, isYaml, readBody, readBytes } from './read-body.ts'
import type { RestRequest } from './rest-request.ts'

/**
 * Answers an object that is a question, and is not kept. Its clients are programs with compiled
 * kinds, some of which send protocol buffers and nothing else.
 * @see kubernetes/kubernetes pkg/registry/authorization/selfsubjectaccessreview/rest.go
 */
export async function reviewObject(rest: RestRequest): Promise<void> {
  const { world, exchange } = rest
  const output = negotiateOutput(rest, 'one')
  const read = await readReview(rest)
  const { fieldValidation } = writeOptions(rest, 'CreateOptions')
  const { object, errors } = await read({ fieldValidation, warn: (warning) => world.warn(exchange, warning) })
  auditRequestObject(rest.request, object)
  refuseInvalid(rest, object.metadata.name, [
    ...errors,
    ...(errors.length === 0 ? (rest.resource.strategy.validate?.(object, undefined) ?? []) : []),
  ])
  const { user, signal } = exchange
  const authorizer = AUTHORIZER.of(exchange)
  const { status } = await rest.storage.review(object, { user, authorizer, signal })
  return send(rest, output, 201, objectAs(rest, output, { ...object, status }))
}

/** Reads the body first: what is too long is refused before options that are wrong. */
async function readReview(rest: RestRequest): Promise<(decoding: Decoding) => Decoded | Promise<Decoded>> {
  const { resource, request, world } = rest
  const { protobuf } = resource
  if (protobuf !== undefined && contentTypeOf(request) === PROTOBUF_TYPE) {
    const value = readProtobufObject(await readBytes(request, world.bodyMax), protobuf)
    return (decoding) => decodeValue(resource, { value, duplicates: [] }, decoding)
  }
  const ofYaml = isYaml(request)
  const text = await readBody(request, world.bodyMax, ofYaml)
  return (decoding) => decodeBody(resource, text, ofYaml, decoding)
}
