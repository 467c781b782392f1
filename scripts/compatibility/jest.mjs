// @ts-check
// The same tests for every Jest: a life with its own server, one of `quiesce/testing` on virtual time,
// and a service of Nest as its starter has it (TypeScript to CommonJS).

const TEST = `const { createServer } = require('node:http')
const { attachLifecycle, QuiesceError } = require('quiesce')
const { testServer } = require('quiesce/testing')

test('a life', async () => {
  const life = attachLifecycle(createServer((_, response) => response.end('done')).listen(0), { health: true })
  await life.start()
  const [{ port }] = life.addresses
  expect(await (await fetch('http://127.0.0.1:' + port + '/')).text()).toBe('done')
  expect((await fetch('http://127.0.0.1:' + port + '/readyz')).status).toBe(200)
  expect((await life.stop('over')).exitCode).toBe(0)
})

test('an error', () => {
  expect(() => attachLifecycle(createServer(), { deadline: 'soon' })).toThrow(QuiesceError)
})

test('a life on virtual time', async () => {
  const life = await testServer(() => new Response('done'), { shutdownDelay: '5s' })
  life.process.signal('SIGTERM')
  await life.clock.runToEnd()
  expect(life.report).toMatchObject({ exitCode: 0 })
})
`
const SPEC = `import { createServer, type Server } from 'node:http'
import { attachLifecycle, type AttachedLife } from 'quiesce'
import quiesce from 'quiesce/fastify'

describe('in TypeScript', () => {
  it('has a life', async () => {
    const server: Server = createServer((_, response) => response.end('done')).listen(0)
    const life: AttachedLife = attachLifecycle(server)
    await life.start()
    expect((await life.stop('over')).exitCode).toBe(0)
    expect(typeof quiesce).toBe('function')
  })
})
`
/** The compiler's settings of Nest's starter. */
const NEST = {
  compilerOptions: {
    module: 'commonjs',
    moduleResolution: 'node10',
    ignoreDeprecations: '6.0',
    declaration: true,
    emitDecoratorMetadata: true,
    experimentalDecorators: true,
    esModuleInterop: true,
    target: 'ES2022',
    strictNullChecks: true,
    skipLibCheck: true,
    types: ['node', 'jest'],
  },
}
const EVERYTHING = {
  testTimeout: 60_000,
  transformIgnorePatterns: [],
  transform: {
    '\\.c?js$': [
      'ts-jest',
      {
        tsconfig: { allowJs: true, module: 'commonjs', target: 'es2022', esModuleInterop: true, isolatedModules: true },
        diagnostics: false,
      },
    ],
  },
}

/** @param {import('../compatibility.mjs').Cell} cell */
export async function checkJest({ variant, modules, write, run }) {
  const jest = [process.execPath, `${modules}/jest/bin/jest.js`]
  if (variant === 'ts-jest') {
    write('package.json', '{ "private": true }')
    write('tsconfig.json', JSON.stringify(NEST))
    write('life.spec.ts', SPEC)
    const transform = { '^.+\\.(t|j)s$': 'ts-jest' }
    write(
      'jest.config.json',
      JSON.stringify({
        moduleFileExtensions: ['js', 'json', 'ts'],
        testTimeout: 60_000,
        testRegex: '.*\\.spec\\.ts$',
        transform,
        testEnvironment: 'node',
      }),
    )
  } else {
    write('package.json', '{ "private": true }')
    write('life.test.js', TEST)
    write('jest.config.json', JSON.stringify(variant === 'as it comes' ? { testTimeout: 60_000 } : EVERYTHING))
  }
  await run([...jest, '--config', 'jest.config.json'])
}
