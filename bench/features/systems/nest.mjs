export const about = {
  name: 'NestJS, @nestjs/terminus',
  packages: ['@nestjs/core', '@nestjs/terminus'],
  hooks: { start: 'many', before: 'many', cleanup: 'many' },
  delay: 'option',
  health: 'by hand',
  checks: true,
  signals: true,
  ordering: 'hooks of several modules run by the distance of these; here they are in one',
  untried: { 55: 'its fixture serves no HTTP/2', 88: 'its options are read when the module is made' },
  place: 44,
}

export async function start(plan, { handler, hooks, webSockets }, ready) {
  await import('reflect-metadata')
  const [{ All, Controller, Get, Module, Req, Res }, { NestFactory }, terminus] = await Promise.all([
    import('@nestjs/common'),
    import('@nestjs/core'),
    import('@nestjs/terminus'),
  ])
  class Health {
    constructor(health) {
      this.health = health
    }
    live() {
      return this.health.check([])
    }
    ready() {
      return this.health.check([])
    }
    a() {
      return this.health.check([() => ({ a: { status: 'up', secretA: 1 } })])
    }
    b() {
      return this.health.check([() => ({ b: { status: 'up' } })])
    }
    never() {
      return this.health.check([() => new Promise(() => {})])
    }
  }
  for (const name of ['live', 'ready', 'never', 'a', 'b']) {
    const descriptor = Object.getOwnPropertyDescriptor(Health.prototype, name)
    Get(`/${name}`)(Health.prototype, name, descriptor)
    terminus.HealthCheck()(Health.prototype, name, descriptor)
  }
  Controller()(Health)
  Reflect.defineMetadata('design:paramtypes', [terminus.HealthCheckService], Health)
  class Api {
    async all(request, response) {
      await handler(request, response)
    }
  }
  All('{*path}')(Api.prototype, 'all', Object.getOwnPropertyDescriptor(Api.prototype, 'all'))
  Req()(Api.prototype, 'all', 0)
  Res()(Api.prototype, 'all', 1)
  Controller()(Api)
  const provider = (kind, method) => hooks(kind).map(({ name, run }) => ({ provide: `${kind} ${name}`, useValue: { [method]: run } }))
  class App {}
  Module({
    imports: [terminus.TerminusModule.forRoot({ gracefulShutdownTimeoutMs: plan.delayMs ?? 0, logger: false })],
    controllers: [Health, Api],
    providers: [
      ...provider('start', 'onApplicationBootstrap'),
      ...provider('before', 'onModuleDestroy'),
      ...provider('cleanup', 'onApplicationShutdown'),
    ],
  })(App)
  const app = await NestFactory.create(App, { logger: false, abortOnError: false })
  app.enableShutdownHooks()
  webSockets(app.getHttpServer())
  await app.listen(0, '127.0.0.1')
  ready({
    port: app.getHttpServer().address().port,
    health: { live: '/live', ready: '/ready', never: '/never' },
    handle: app,
    controls: { uninstall: () => app.unsubscribeFromProcessSignals(), stop: () => void app.close() },
  })
}

export async function misuse() {
  await import('reflect-metadata')
  const { TerminusModule } = await import('@nestjs/terminus')
  TerminusModule.forRoot({ gracefulShutdownTimeoutMs: 'soon' })
}
