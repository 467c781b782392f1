import { PROTOBUF_TYPE, readProtobufObject } from '../protobuf/object.ts'
import { type Decoded, type Decoding, decodeBody, decodeValue } from './decode.ts'
import { contentTypeOf, isYaml, readBody, readBytes } from './read-body.ts'
import type { RestRequest } from './rest-request.ts'

/**
 * Reads an object that is to be created, or to take the place of another. The body comes first:
 * what is too long is refused before options that are wrong. A kind that says how may also come as
 * protocol buffers.
 */
export async function readSent(rest: RestRequest): Promise<(decoding: Decoding) => Decoded | Promise<Decoded>> {
  const { resource, request, world } = rest
  const { protobuf } = resource
  if (protobuf !== undefined && contentTypeOf(request) === PROTOBUF_TYPE) {
    const value = readProtobufObject(await readBytes(request, world.bodyMax), protobuf)
    return (decoding) => decodeValue(resource, { value, duplicates: [] }, decoding)
  }
  const ofYaml = isYaml(request)
  const text = await readBody(request, world.bodyMax)
  return (decoding) => decodeBody(resource, text, ofYaml, decoding)
}
