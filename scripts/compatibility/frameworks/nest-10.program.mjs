// NestJS 10
// packages: @nestjs/core, @nestjs/platform-express
// set: nest-10
import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Quiesce, QuiesceModule } from 'quiesce/nest'

// Decorators are called as functions, which is what they are.
class Api {
  async root() {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return 'done'
  }
}
Get('/')(Api.prototype, 'root', Object.getOwnPropertyDescriptor(Api.prototype, 'root'))
Controller()(Api)

class App {}
Module({ imports: [QuiesceModule.forRoot({ deadline: '8s' })], controllers: [Api] })(App)

const app = await NestFactory.create(App, { logger: false })
await app.listen(0, '127.0.0.1')
const ended = app.get(Quiesce).run(app)
console.log(`PORT ${app.getHttpServer().address().port}`)
await ended
