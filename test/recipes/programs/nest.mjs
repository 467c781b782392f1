// NestJS with a gateway over the package ws; decorators are called as functions, which is what they
// are.
import 'reflect-metadata'
import { Controller, Get, Module, Req, Sse } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { WsAdapter } from '@nestjs/platform-ws'
import { WebSocketGateway } from '@nestjs/websockets'
import { Observable } from 'rxjs'
import { shutdownSignalOf } from '../../../dist/index.js'
import { Quiesce, QuiesceModule } from '../../../dist/nest.js'
import { options } from './options.mjs'
import { slow } from './slow.mjs'

class Api {
  hello() {
    return 'hello'
  }
  slow() {
    return slow()
  }
  events(request) {
    return new Observable((client) => {
      client.next({ data: 'first' })
      shutdownSignalOf(request).addEventListener('abort', () => {
        client.next({ type: 'last', data: 'bye' })
        client.complete()
      })
    })
  }
}
const method = (name) => [Api.prototype, name, Object.getOwnPropertyDescriptor(Api.prototype, name)]
Get('/')(...method('hello'))
Get('/slow')(...method('slow'))
Sse('/events')(...method('events'))
Req()(Api.prototype, 'events', 0)
Controller()(Api)

class Chat {
  handleConnection(ws) {
    ws.send('first')
  }
}
WebSocketGateway({ path: '/chat' })(Chat)

class App {}
Module({ imports: [QuiesceModule.forRoot(options)], controllers: [Api], providers: [Chat] })(App)

const app = await NestFactory.create(App, { logger: false })
app.useWebSocketAdapter(new WsAdapter(app))
await app.listen(0, '127.0.0.1')
await app.get(Quiesce).run(app)
