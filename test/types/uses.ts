// Options as people write them: each value stands inline, because a compiler infers another type
// there than for a variable, and comes from the package that it comes from in a program. Nothing
// here is run. `npm run typecheck` compiles it with the strictest settings, and as-written.ts with
// the ordinary ones.
import { createServer as createHttpServer } from 'node:http'
import { metrics as otelMetrics, trace } from '@opentelemetry/api'
import { createBrowserInspector } from '@statelyai/inspect'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { pino } from 'pino'
import { Counter, Registry } from 'prom-client'
import { WebSocketServer } from 'ws'
import { quiesce } from '../../dist/fastify.js'
import { healthRoutes, metricsRoutes, profileRoutes, serve } from '../../dist/hono.js'
import { attachLifecycle, createLife, createServer } from '../../dist/index.js'
import { fromPromClient, MetricRegistry, registerInto } from '../../dist/metrics.js'
import { QuiesceModule } from '../../dist/nest.js'
import { meterLifecycle, traceLifecycle } from '../../dist/opentelemetry.js'
import { FakeProcess, testServer, VirtualClock } from '../../dist/testing.js'

const hello = (): Response => new Response('hello')

export function serversOfSockets() {
  return [
    createServer(hello, { websocket: { server: new WebSocketServer({ noServer: true }) } }),
    createServer({ listener: (_, response) => response.end() }, { websocket: { server: new WebSocketServer({ noServer: true }) } }),
    serve(new Hono(), { websocket: { server: new WebSocketServer({ noServer: true, perMessageDeflate: false }) } }),
  ]
}

export function lifeWithLoggers() {
  const ofOwn = {
    debug: (): void => {},
    info: (): void => {},
    warn: (): void => {},
    error: (): void => {},
    lastFlushAgeMs: () => 0,
    lostLines: () => 0,
  }
  return [
    attachLifecycle(createHttpServer(), { logger: pino() }),
    createServer(hello, { logger: pino({ level: 'warn' }) }),
    createServer(hello, { logger: pino({ level: 'warn' }).child({ part: 'life' }) }),
    createServer(hello, { logger: pino({ customLevels: { audit: 35 } }) }),
    createServer(hello, { logger: fastify({ logger: true }).log as ReturnType<typeof pino> }),
    createServer(hello, { logger: console }),
    createServer(hello, { logger: ofOwn }),
    createLife({ logger: pino() }),
    serve(new Hono(), { logger: pino() }),
    QuiesceModule.forRoot({ logger: pino() }),
    fastify().register(quiesce, { logger: pino() }),
  ]
}

export function watchers() {
  return [
    createServer(hello, { inspect: createBrowserInspector() }),
    createServer(hello, { inspect: (event) => console.log(event.type) }),
    createServer(hello, { inspect: { next: (event) => console.log(event.type) } }),
    createServer(hello, { audit: { run: async () => {}, shutdown: async () => {} } }),
  ]
}

export function applications() {
  const app = new Hono()
  const life = serve(app, { port: 0 })
  app.route('/', healthRoutes(life))
  app.route('/', metricsRoutes(life))
  app.route('/', profileRoutes(life, { authorize: (_, next) => next() }))
  return [
    life,
    createServer(app),
    createServer({ listener: express() }),
    createServer({ listener: new Koa().callback() }),
    attachLifecycle(createHttpServer(express())),
    attachLifecycle(fastify().server),
  ]
}

export function observed() {
  const life = createServer(hello)
  const registry = new Registry()
  life.addMetrics(fromPromClient(new Registry()))
  registerInto(registry, new MetricRegistry())
  registerInto(registry, life.metrics)
  traceLifecycle(life, { tracer: trace.getTracer('app') })
  meterLifecycle(life, { meter: otelMetrics.getMeter('app') })
  return new Counter({ name: 'mine_total', help: 'Mine', registers: [registry] })
}

export const tested = () =>
  testServer(hello, { logger: pino(), process: new FakeProcess({ terminal: true }), setUp: (life) => life.addDestroy('pool', () => {}) })

export const clock = new VirtualClock()
