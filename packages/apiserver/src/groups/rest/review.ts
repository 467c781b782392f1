import { auditRequestObject } from '../../audit/request-audit.ts'
import { AUTHORIZER } from '../../authorization/authorizer.ts'
import { writeOptions } from './options.ts'
import { negotiateOutput, objectAs, send } from './output.ts'
import { refuseInvalid } from './prepare.ts'
import { readSent } from './read-sent.ts'
import type { RestRequest } from './rest-request.ts'

/**
 * Answers an object that is a question, and is not kept. Its clients are programs with compiled
 * kinds, some of which send protocol buffers and nothing else.
 * @see kubernetes/kubernetes pkg/registry/authorization/selfsubjectaccessreview/rest.go
 */
export async function reviewObject(rest: RestRequest): Promise<void> {
  const { world, exchange } = rest
  const output = negotiateOutput(rest, 'one')
  const read = await readSent(rest)
  const { fieldValidation } = writeOptions(rest, 'CreateOptions')
  const { object, errors } = await read({ part: rest.part, fieldValidation, warn: (warning) => world.warn(exchange, warning) })
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
