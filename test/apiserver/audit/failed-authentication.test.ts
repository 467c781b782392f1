// Fails when: what a refused request has brought is recorded in other words than upstream's.
import { expect, test } from 'vitest'
import { recordFailedAuthentication } from '#apiserver/audit/failed-authentication.ts'
import type { ApiExchange } from '#apiserver/index.ts'

test.each<[string, object, object, string]>([
  ['/', {}, {}, 'no credentials provided'],
  ['/', { authorization: 'Bearer x' }, {}, 'attempted: bearer'],
  ['/', { authorization: 'Bearer' }, {}, 'no credentials provided'],
  ['/', { authorization: 'Basic x' }, {}, 'attempted: basic'],
  ['/?access_token=x', { authorization: 'bearer x' }, {}, 'attempted: bearer, access_token'],
  ['/', {}, { getPeerCertificate: () => ({ subject: {} }) }, 'attempted: x509'],
  ['/', {}, { getPeerCertificate: () => ({}) }, 'no credentials provided'],
])('%s with %j and %j: %s', (url, headers, socket, words) => {
  const recorded: unknown[] = []
  const failure = { message: 'Unauthorized', reason: 'Unauthorized', code: 401 }
  const exchange = { request: { url, headers, socket } } as unknown as ApiExchange
  recordFailedAuthentication(exchange, failure, (_, refusal, otherwise) => void recorded.push(refusal, otherwise))
  expect(recorded).toEqual([failure, `Authentication failed, ${words}`])
})
