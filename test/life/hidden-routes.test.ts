// Routes that an application has for paths which the option `health` answers before it. Fails when:
// one is hidden without a word, or what is no such route (middleware, what takes any path, a path
// below) is warned of.
import http from 'node:http'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import express, { type Express } from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createServerOn } from '#src/create-server.ts'
import quiesce from '#src/frameworks/fastify.ts'
import { healthRoutes, serve } from '#src/frameworks/hono.ts'
import { Quiesce, QuiesceModule } from '#src/frameworks/nest.ts'
import type { HealthOptions, LifecycleOptions } from '#src/index.ts'
import { hasRoute } from '#src/lifecycle/routes-of-applications.ts'
import { LifeRig, newAttachedLife } from '../support/life.ts'

const warning = (...paths: string[]) =>
  `routes of the application are never reached, because the option health answers their paths before it: ${paths.join(', ')}; ` +
  'make checks of what they look at, give the endpoints other paths (health.paths), or set health to false and have them fail while draining'

const QUIET: LifecycleOptions = { platform: 'unknown', shutdownDelay: 0, deadline: '1m', exit: 'natural', logger: false }

/** What a life around a server of this application warns of. */
async function warningsOf(application: http.RequestListener, health: boolean | HealthOptions = true): Promise<readonly string[]> {
  const server = http.createServer(application).listen(0, '127.0.0.1')
  const t = newAttachedLife(server, { options: { health } })
  await t.life.start()
  return (await t.end()).warnings.map(({ message }) => message)
}

/** The same for one that it creates a server for. */
async function warningsOfHono(app: Hono, health: boolean | HealthOptions = true): Promise<readonly string[]> {
  const t = new LifeRig({}, (host, logger) => createServerOn(host, app, { ...QUIET, logger, port: 0, host: '127.0.0.1', health }))
  await t.life.start()
  return (await t.end()).warnings.map(({ message }) => message)
}

describe('Express', () => {
  const withRoutes = (add: (app: Express) => void): Express => {
    const app = express()
    add(app)
    return app
  }

  test.each<[string, (app: Express) => void, readonly string[]]>([
    ['a route', (app) => app.get('/readyz', () => {}), ['/readyz']],
    ['several', (app) => app.get(['/healthz', '/x'], () => {}).all('/livez', () => {}), ['/healthz', '/livez']],
    ['one in a router', (app) => app.use(express.Router().get('/readyz', () => {})), ['/readyz']],
    [
      'one in a router below a path',
      (app) => app.use('/status', express.Router().use(express.Router().get('/ready', () => {}))),
      ['/status/ready'],
    ],
  ])('%s is named', async (_, add, paths) => {
    const health = { extra: { '/status/ready': 'readyz', '/status': 'all' } } as const
    expect(await warningsOf(withRoutes(add), health)).toEqual([warning(...paths)])
  })

  test.each<[string, (app: Express) => void]>([
    ['nothing', () => {}],
    ['middleware', (app) => app.use(() => {}).use('/readyz', () => {})],
    ['what takes any path', (app) => app.get('/{*any}', () => {}).all(/z$/, () => {})],
    ['another method', (app) => app.post('/readyz', () => {})],
    [
      'another path',
      (app) =>
        app
          .get('/readyz/db', () => {})
          .use(
            '/x',
            express.Router().get('/readyz', () => {}),
          ),
    ],
  ])('%s is not', async (_, add) => {
    expect(await warningsOf(withRoutes(add))).toEqual([])
  })

  test('none is hidden where health is off, or elsewhere', async () => {
    const app = withRoutes((own) => own.get('/readyz', () => {}))
    expect(await warningsOf(app, false)).toEqual([])
    expect(await warningsOf(app, { paths: { readyz: '/ready' } })).toEqual([])
  })

  test('of version 4, whose router is elsewhere, and which throws where that of 5 is', () => {
    const { router } = withRoutes((app) => app.get('/readyz', () => {}))
    const old = (own: unknown) =>
      Object.defineProperty({ _router: own }, 'router', {
        get: () => {
          throw new Error("'app.router' is deprecated!")
        },
      })
    // As its layers say what is theirs of a path.
    const below = { stack: [{ handle: router, path: '/status', match: (path: string) => path.startsWith('/status') }] }
    expect([hasRoute(old(below), '/status/readyz'), hasRoute(old(below), '/readyz')]).toEqual([true, false])
    expect([hasRoute(old(router), '/readyz'), hasRoute(old(router), '/livez'), hasRoute(old(undefined), '/readyz')]).toEqual([
      true,
      false,
      false,
    ])
  })
})

describe('Hono', () => {
  test('a route is named, also of one that `serve` is given, and before the life begins only', async () => {
    const app = new Hono().get('/readyz', (c) => c.text('mine')).all('/livez', (c) => c.text('mine'))
    expect(await warningsOfHono(app)).toEqual([warning('/livez', '/readyz')])
    const life = serve(app, { ...QUIET, port: 0, host: '127.0.0.1' })
    await life.start()
    expect((await life.stop()).warnings.map(({ message }) => message)).toEqual([warning('/livez', '/readyz')])
  })

  test('middleware, what takes any path, and the mounted routes of the life are not', async () => {
    const app = new Hono()
      .use('/readyz', (_, next) => next())
      .use((_, next) => next())
      .get('*', (c) => c.text('any'))
      .get('/:name', (c) => c.text('any'))
    const t = new LifeRig({}, (host, logger) => createServerOn(host, app, { ...QUIET, logger, port: 0, host: '127.0.0.1' }))
    app.route('/', healthRoutes(t.life))
    await t.life.start()
    expect((await t.end()).warnings).toEqual([])
  })
})

test('Fastify: a route is named once the app listens', async () => {
  const app = fastify()
  await app.register(quiesce, QUIET)
  app.get('/readyz', () => 'mine').get('/*', () => 'any')
  await app.listen({ port: 0, host: '127.0.0.1' })
  await app.close()
  // The runner's own listeners of crashes are warned of, too.
  expect((await app.life.ended).warnings.map(({ message }) => message)).toContain(warning('/readyz'))
})

test('Nest: a route of a controller is named', async () => {
  class Own {
    ready(): string {
      return 'mine'
    }
  }
  Get()(Own.prototype, 'ready', Object.getOwnPropertyDescriptor(Own.prototype, 'ready') as TypedPropertyDescriptor<unknown>)
  Controller('readyz')(Own)
  class App {}
  Module({ imports: [QuiesceModule.forRoot(QUIET)], controllers: [Own] })(App)
  const app = await NestFactory.create(App, { logger: false })
  onTestFinished(() => app.close())
  await app.listen(0, '127.0.0.1')
  const { life } = app.get(Quiesce)
  await life.start()
  expect((await life.stop()).warnings.map(({ message }) => message)).toEqual([warning('/readyz')])
})

test('what does not show its routes is not warned of', async () => {
  expect(await warningsOf((_, response) => void response.end('mine'))).toEqual([])
  expect(await warningsOf(new Koa().use(() => {}).callback() as http.RequestListener)).toEqual([])
  const hostile = new Proxy(() => {}, {
    get: () => {
      throw new Error('no look')
    },
  })
  expect([hasRoute(hostile, '/'), hasRoute(undefined, '/'), hasRoute({ hasRoute: 1, routes: [null] }, '/')]).toEqual([false, false, false])
})
