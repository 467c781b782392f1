// NestJS 11, the signal in its shutdown hooks
// packages: @nestjs/core
import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Quiesce, QuiesceModule } from 'quiesce/nest'

const heard = []
class Api {
  async root() {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return 'done'
  }
  onModuleDestroy() {
    heard.push('destroyed')
  }
  beforeApplicationShutdown(signal) {
    heard.push(`before ${signal}`)
  }
  onApplicationShutdown(signal) {
    heard.push(`after ${signal}`)
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
process.on('exit', () => {
  if (heard.join() === 'destroyed,before SIGTERM,after SIGTERM') return
  console.log(`the hooks heard: ${heard.join()}`)
  process.exitCode = 9
})
await ended
