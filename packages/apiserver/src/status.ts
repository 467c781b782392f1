import type { IncomingMessage, ServerResponse } from 'node:http'
import { apiExchangeOf } from './api-exchange.ts'
import { finds, writeObject } from './encoding/write-object.ts'
import { Slot } from './request/slots.ts'
import { type Failure, notAcceptable } from './status-errors.ts'

/** What it was answered with, when that was a failure of ours. */
export const FAILURE = new Slot<Failure | undefined>(undefined)

const NO_METADATA: NonNullable<Failure['metadata']> = {}

/** @see kubernetes/apimachinery pkg/apis/meta/v1/types.go Status */
export const failureStatus = ({ message, reason, details, code, metadata = NO_METADATA }: Failure): object => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata,
  status: 'Failure',
  message,
  reason,
  details,
  code,
})

/** Answers with a Status in the form that the client wants, and `Retry-After` from its details. */
export function sendStatus(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  failure: Failure,
): void {
  const exchange = apiExchangeOf(request)
  // What a client is sent against its will upstream does not record.
  if (exchange && finds(request)) FAILURE.set(exchange, failure)
  const retryAfter = failure.details?.['retryAfterSeconds']
  const headers: Record<string, string> = retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }
  writeObject(request, response, failure.code, { value: failureStatus(failure), headers })
}

/** Answers a client that takes an answer in none of the ways in which there is one. */
export function sendNotAcceptable(exchange: Parameters<typeof sendStatus>[0], accepted: readonly string[]): void {
  sendStatus(exchange, notAcceptable(accepted).failure)
}
