import type { ApiExchange } from '../api-exchange.ts'
import { goQuote } from '../engine.ts'
import { sanitized } from '../internal-error.ts'
import { sendStatus } from '../status.ts'
import type { Failure } from '../status-errors.ts'
import type { AuthorizationAttributes } from './authorizer.ts'

/**
 * Answers 403: who may not do what, and why, if there is a reason.
 * @see kubernetes/apiserver pkg/endpoints/handlers/responsewriters/errors.go Forbidden
 */
export function sendForbidden(exchange: ApiExchange, attributes: AuthorizationAttributes, reason = ''): void {
  if (!exchange.response.headersSent) exchange.response.setHeader('X-Content-Type-Options', 'nosniff')
  sendStatus(exchange, forbidden(attributes, reason))
}

/** @see kubernetes/apimachinery pkg/api/errors/errors.go NewForbidden */
export function forbidden(attributes: AuthorizationAttributes, reason: string): Failure {
  const { apiGroup: group, resource: kind, name } = attributes
  const qualified = group === '' ? kind : `${kind}.${group}`
  const subject = qualified === '' ? '' : `${name === '' ? qualified : `${qualified} ${goQuote(name)}`} is `
  return {
    message: `${subject}forbidden: ${sanitized(refusal(attributes))}${reason === '' ? '' : `: ${reason}`}`,
    reason: 'Forbidden',
    details: Object.fromEntries(Object.entries({ name, group, kind }).filter(([, text]) => text !== '')),
    code: 403,
  }
}

function refusal(attributes: AuthorizationAttributes): string {
  const { user, verb, isResourceRequest, path, apiGroup, namespace, resource, subresource } = attributes
  const begin = `User ${goQuote(user?.name ?? '')} cannot ${verb}`
  if (!isResourceRequest) return `${begin} path ${goQuote(path)}`
  const combined = goQuote(subresource === '' ? resource : `${resource}/${subresource}`)
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`
  return `${begin} resource ${combined} in API group ${goQuote(apiGroup)} ${scope}`
}
