import {
  type Attributes,
  type Context,
  context,
  diag,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { checkArguments, toError, withOptions } from '../engine.ts'
import { KNOWN_METHODS } from './methods.ts'
import type { RequestSpan, RequestTracing, TracedRequest } from './request-tracing.ts'

export interface TraceRequestsOptions {
  /** Default: the tracer `quiesce` of the global provider. */
  readonly tracer?: Tracer
}

/**
 * Makes each request of an API server a span, for its option `tracing`. What the client sends of
 * its own trace (`traceparent`, as the global propagator reads it) is the parent where the client
 * is trusted, and a link where it is not. Handlers, and filters behind the authentication, run
 * inside of the span, so that what they do is below it and what they ask of others carries it on.
 *
 * A tracer that throws ends the tracing, not the requests.
 * @see kubernetes/apiserver pkg/endpoints/filters/traces.go WithTracing
 * @example
 * const config = { tracing: traceRequests() }
 */
export function traceRequests(options: TraceRequestsOptions = {}): RequestTracing {
  checkArguments('traceRequests(options?)', [options, withOptions<TraceRequestsOptions>('tracer')])
  const { tracer = trace.getTracer('quiesce') } = options
  let hasFailed = false
  const failed = (thrown: unknown): void => {
    hasFailed = true
    diag.error('quiesce: tracing of requests stopped, because the tracer failed', thrown)
  }
  return {
    begin: (traced) => {
      if (hasFailed) return undefined
      try {
        const { span, inside } = start(tracer, traced)
        return spanOf(span, inside, failed)
      } catch (thrown) {
        failed(thrown)
        return undefined
      }
    },
  }
}

function start(tracer: Tracer, traced: TracedRequest): { readonly span: Span; readonly inside: Context } {
  const { request, name, receivedAt, isTrusted, attributes } = traced
  const around = context.active()
  // Instrumentation of node's own has read it already.
  const isInstrumented = trace.getSpan(around) !== undefined
  const sent = isInstrumented ? around : propagation.extract(around, request.headers)
  const client = trace.getSpanContext(sent)
  const isChild = isInstrumented || isTrusted
  const options = {
    kind: SpanKind.SERVER,
    startTime: receivedAt,
    attributes: { ...attributes, ...attributesOf(traced) },
    ...(!isChild && { root: true, ...(client && { links: [{ context: client }] }) }),
  }
  const span = tracer.startSpan(name, options, sent)
  return { span, inside: trace.setSpan(sent, span) }
}

function spanOf(span: Span, inside: Context, failed: (thrown: unknown) => void): RequestSpan {
  return {
    run: (work) => context.with(inside, work),
    end: (status, thrown) => {
      try {
        if (status > 0) span.setAttribute('http.response.status_code', status)
        if (thrown !== undefined) span.recordException(toError(thrown))
        if (status >= 500 || thrown !== undefined) {
          span.setAttribute('error.type', thrown === undefined ? String(status) : toError(thrown).name)
          span.setStatus({ code: SpanStatusCode.ERROR })
        }
        span.end()
      } catch (error) {
        failed(error)
      }
    },
  }
}

/**
 * The attributes as semantic conventions name them; the query is left out, which may hold secrets.
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
function attributesOf({ request: { method = 'GET', url = '/', headers, httpVersion, socket } }: TracedRequest): Attributes {
  const { host, ':authority': authority = host, 'user-agent': userAgent } = headers
  const [, bracketed, address = bracketed, port] = HOST_AND_PORT.exec(String(authority ?? '')) ?? []
  return {
    ...methodAttributes(method),
    'url.path': url.split('?', 1)[0] ?? '/',
    'url.scheme': socket && 'encrypted' in socket ? 'https' : 'http',
    'network.protocol.version': httpVersion === '2.0' ? '2' : httpVersion,
    ...(address !== undefined && { 'server.address': address }),
    ...(port !== undefined && { 'server.port': Number(port) }),
    ...(typeof userAgent === 'string' && { 'user_agent.original': userAgent }),
    ...(socket?.remoteAddress !== undefined && { 'client.address': socket.remoteAddress }),
  }
}

/** An address of IPv6 is in brackets, which are not part of it. */
const HOST_AND_PORT = /^(?:\[([^\]]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/

const methodAttributes = (method: string): Attributes =>
  KNOWN_METHODS.has(method)
    ? { 'http.request.method': method }
    : { 'http.request.method': '_OTHER', 'http.request.method_original': method }
