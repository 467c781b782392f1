// NestJS 11, a message of a microservice in a hybrid application
// packages: @nestjs/core, @nestjs/microservices
import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices'
import { Quiesce, QuiesceModule } from 'quiesce/nest'

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let answer

class Api {
  async root() {
    options.port = await port
    const client = ClientProxyFactory.create({ transport: Transport.TCP, options })
    client.send('double', 21).subscribe((value) => {
      answer = value
    })
    await sleep(1000)
    return 'done'
  }
  async double(value) {
    await sleep(2500)
    return value * 2
  }
}
const method = (name) => [Api.prototype, name, Object.getOwnPropertyDescriptor(Api.prototype, name)]
Get('/')(...method('root'))
MessagePattern('double')(...method('double'))
Controller()(Api)
class App {}
Module({ imports: [QuiesceModule.forRoot()], controllers: [Api] })(App)

const app = await NestFactory.create(App, { logger: false })
const options = { host: '127.0.0.1', port: 0 }
const microservice = app.connectMicroservice({ transport: Transport.TCP, options })
await app.startAllMicroservices()
const port = Promise.resolve(microservice.unwrap().address().port)
const server = await app.listen(0, '127.0.0.1')
// Its client is in this process: the answer is on its way when the life has ended.
process.once('exit', () => {
  if (answer !== 42) process.exitCode = 9
})
const ended = app.get(Quiesce).run(app)
console.log(`PORT ${server.address().port}`)
await ended
