import type { IncomingMessage } from 'node:http'
import { firstHeader } from '../../first-header.ts'
import { badRequest, entityTooLarge, unsupportedMediaType } from '../../status-errors.ts'

const JSON_TYPE = 'application/json'
const YAML_TYPE = 'application/yaml'
/** What bodies of objects can be, as the refusal of others names it. */
const BODY_TYPES = [JSON_TYPE, YAML_TYPE]

/** YAML takes a hundred times as long to read as JSON. */
const YAML_MAX = 256 * 1024

/** A type without its parameters. */
export const contentTypeOf = (request: IncomingMessage): string =>
  (firstHeader(request, 'content-type').split(';')[0] as string).trim().toLowerCase()

/** @throws StatusError 415 for a type that is not read; no type is JSON */
export function isYaml(request: IncomingMessage): boolean {
  const type = contentTypeOf(request)
  if (type !== '' && !BODY_TYPES.includes(type)) throw unsupportedMediaType(BODY_TYPES)
  return type === YAML_TYPE
}

/** The body of a request as text, of which there is less where it is YAML. As {@link readBytes}. */
export const readBody = async (request: IncomingMessage, max: number): Promise<string> =>
  (await readBytes(request, contentTypeOf(request) === YAML_TYPE ? Math.min(max, YAML_MAX) : max)).toString()

/**
 * The body of a request.
 * @param allowed bytes
 * @throws StatusError 413 for a longer one, of which no more is read
 */
export function readBytes(request: IncomingMessage, allowed: number): Promise<Buffer> {
  const tooLarge = () => entityTooLarge(`limit is ${allowed}`)
  return new Promise((resolve, reject) => {
    if (Number(request.headers['content-length'] ?? 0) > allowed) return reject(tooLarge())
    const chunks: Buffer[] = []
    let bytes = 0
    const end = (): void => {
      request.off('data', take)
      request.off('end', finish)
      request.off('close', cut)
      request.off('error', cut)
    }
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes <= allowed) return void chunks.push(chunk)
      end()
      request.pause()
      reject(tooLarge())
    }
    const finish = (): void => {
      end()
      resolve(Buffer.concat(chunks))
    }
    const cut = (): void => {
      end()
      reject(badRequest('the body of the request ended too early'))
    }
    request.on('data', take).on('end', finish).on('close', cut).on('error', cut)
  })
}
