// NestJS 12 under Jest 30
// packages: @nestjs/core, jest
// set: nest-12
// variants: as ES modules
// note: NestJS 12 has ES modules only, which Jest loads as such with `node --experimental-vm-modules`, in files that are modules (`"type": "module"`); as it comes, Jest cannot load it, with quiesce or without. Vitest needs nothing
const TEST = `import 'reflect-metadata'
import { expect, test } from '@jest/globals'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Quiesce, QuiesceModule } from 'quiesce/nest'

test('an application with a life', async () => {
  class Api {
    root() {
      return 'done'
    }
  }
  Get('/')(Api.prototype, 'root', Object.getOwnPropertyDescriptor(Api.prototype, 'root'))
  Controller()(Api)
  class App {}
  Module({ imports: [QuiesceModule.forRoot({ signals: [] })], controllers: [Api] })(App)

  const app = await NestFactory.create(App, { logger: false })
  await app.listen(0, '127.0.0.1')
  const { life } = app.get(Quiesce)
  await life.start()
  const { port } = app.getHttpServer().address()
  expect(await (await fetch('http://127.0.0.1:' + port + '/')).text()).toBe('done')
  expect((await fetch('http://127.0.0.1:' + port + '/readyz')).status).toBe(200)
  expect((await life.stop('over')).exitCode).toBe(0)
})
`

/** @param {import('../../compatibility.mjs').Cell} cell */
export default async ({ modules, write, run, runtime }) => {
  write('package.json', '{ "private": true, "type": "module" }')
  write('nest.test.js', TEST)
  write('jest.config.json', JSON.stringify({ testTimeout: 60_000, transform: {} }))
  for (const node of ['Node 20', 'Node 24'])
    await run([...runtime(node), '--experimental-vm-modules', `${modules}/jest/bin/jest.js`, '--config', 'jest.config.json'])
}
