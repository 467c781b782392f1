// NestJS: shutdown hooks run after the drain. Decorators are called here, so that node runs the
// file as it is; with TypeScript they are written with an @.
//   node nest.mjs & curl -N localhost:3000/export & sleep 1; kill -TERM %1; wait
import 'reflect-metadata'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { Controller, Get, Module, StreamableFile } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Quiesce, QuiesceModule } from 'quiesce/nest'

async function* rows() {
  yield 'first row\n'
  await sleep(2_000)
  yield 'last row\n'
}

class Api {
  export() {
    return new StreamableFile(Readable.from(rows()))
  }
  onApplicationShutdown() {} // closes a pool, say
}
Get('export')(Api.prototype, 'export', Object.getOwnPropertyDescriptor(Api.prototype, 'export'))
Controller()(Api)
class App {}
Module({ imports: [QuiesceModule.forRoot()], controllers: [Api] })(App)

const app = await NestFactory.create(App, { logger: false })
await app.listen(process.env.PORT ?? 3000)
await app.get(Quiesce).run(app)
