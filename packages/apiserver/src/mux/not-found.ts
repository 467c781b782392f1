import { apiExchangeOf } from '../api-exchange.ts'
import { EARLY } from '../chain/mux-complete.ts'
import { PLAIN_TEXT, respond } from '../engine.ts'
import { sendStatus } from '../status.ts'
import type { ApiHandler } from './path-mux.ts'

const NOT_FOUND = {
  status: 404,
  headers: PLAIN_TEXT,
  body: '404 page not found\n',
}

export const plainNotFound: ApiHandler = (_request, response) => respond(response, NOT_FOUND)

/**
 * The end of a chain of servers: a path that is not there is not found, unless the request came
 * before all were installed.
 * @see kubernetes/apiserver pkg/util/notfoundhandler/not_found_handler.go
 */
export const notFoundUntilComplete: ApiHandler = (request, response) => {
  const exchange = apiExchangeOf(request)
  if (exchange === undefined || !EARLY.of(exchange)) return plainNotFound(request, response)
  return sendStatus(exchange, {
    message: 'the request has been made before all known HTTP paths have been installed, please try again',
    reason: 'ServiceUnavailable',
    details: { retryAfterSeconds: 5 },
    code: 503,
  })
}
