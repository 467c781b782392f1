// `quiesce run APP` as its users have it: a module in a process of its own, and clients. Fails
// when: a kind of app is not run, a request that is under way at SIGTERM or at a reload is not
// answered, the exit code is not that of the life, what cannot be run is not named, or a generation
// is not followed by the next.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { TestProcess, temporaryFolder } from '../support/process.ts'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

const ADDRESS = ['--port=0', '--bind-address=127.0.0.1']

const runs = (...args: string[]): TestProcess => new TestProcess([process.execPath, CLI, 'run', ...args], {}, '')

/** The URLs at which it has served so far, one for each generation. */
const urls = (program: TestProcess): string[] =>
  program.log.flatMap(({ msg }) => (msg.startsWith('Serving on ') ? [msg.slice('Serving on '.length)] : []))

async function urlOf(program: TestProcess, generation = 1): Promise<string> {
  while (urls(program).length < generation) {
    if (program.child.exitCode !== null) throw new Error(`it ended without serving:\n${program.stdout}${program.stderr}`)
    await program.next()
  }
  return (urls(program)[generation - 1] as string).replace('[::]', '127.0.0.1')
}

const OF_FRAMEWORKS = ['hono', 'expressApp', 'koa', 'fastify']
const stopInTheMiddle = (name: string) => {
  const module = OF_FRAMEWORKS.includes(name) ? 'apps.mjs' : 'plain-apps.mjs'
  return stopInTheMiddleOf(runs(fixture(module), '--export', name, ...(name === 'life' ? [] : ADDRESS)))
}

async function stopInTheMiddleOf(program: TestProcess, by: NodeJS.Signals = 'SIGTERM') {
  const url = await urlOf(program)
  const ready = await fetch(`${url}/readyz`)
  const slow = fetch(`${url}/slow`)
  await program.said('arrived')
  program.signal(by)
  const answer = await slow
  const outcome = { ready: ready.status, status: answer.status, body: await answer.text(), ...(await program.ended()) }
  return { ...outcome, stderr: program.stderr.replace('arrived\n', '') }
}

describe('quiesce run', () => {
  test.each([
    ['hono', 'object', 'fetchFunction'],
    ['nodeListener', 'expressApp', 'koa'],
    ['httpServer', 'fastify', 'life'],
  ])('answers a request that is under way at SIGTERM: %s, %s, %s', async (...names) => {
    const outcomes = await Promise.all(names.map(stopInTheMiddle))
    const graceful = { ready: 200, status: 200, body: 'done', code: 0, signal: null, at: expect.any(Number) as number }
    expect(outcomes).toEqual(names.map((name) => ({ ...graceful, stderr: name === 'fastify' ? 'onClose\n' : '' })))
  })

  test('runs an app of NestJS, which closes with its own hooks', async () => {
    const outcome = await stopInTheMiddleOf(runs(fixture('nest-app.mjs'), ...ADDRESS))
    expect(outcome).toMatchObject({
      ready: 200,
      status: 200,
      body: 'done',
      code: 0,
      signal: null,
      stderr: 'beforeApplicationShutdown SIGTERM\nonApplicationShutdown SIGTERM\n',
    })
  })

  test('runs an app of NestJS that calls its own close()', async () => {
    const outcome = await stopInTheMiddleOf(runs(fixture('nest-app.mjs'), ...ADDRESS), 'SIGUSR2')
    const stderr = 'beforeApplicationShutdown undefined\nonApplicationShutdown undefined\nclosed\n'
    expect(outcome).toMatchObject({ status: 200, body: 'done', code: 0, signal: null, stderr })
  })

  test('takes the default export, of CommonJS as well, and the flags of serve', async () => {
    const command = [process.execPath, CLI, 'run', fixture('app.cjs'), ...ADDRESS, '--deadline=3s']
    const program = new TestProcess(command, { env: { QUIESCE_REQUEST_TIMEOUT: '7s' } }, '')
    expect(await (await fetch(await urlOf(program))).text()).toBe('hello')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0 })
    const defaults = program.log.find(({ platform }) => platform !== undefined)?.['defaults']
    expect(defaults).toMatchObject({ deadline: { ms: 3_000 }, requestTimeout: { ms: 7_000 } })
  })

  test('runs TypeScript where node does, and says where it does when it does not', async () => {
    const app = join(temporaryFolder(), 'app.ts')
    writeFileSync(app, 'const text: string = "typed"\nexport default () => new Response(text)\n')
    const program = runs(app, ...ADDRESS)
    if ((process.features as { typescript?: unknown }).typescript) {
      expect(await (await fetch(await urlOf(program))).text()).toBe('typed')
      program.signal('SIGTERM')
      expect((await program.ended()).code).toBe(0)
    } else {
      expect((await program.ended()).code).toBe(2)
      expect(program.stderr).toMatch(/^quiesce: APP: got ".*app\.ts", .*use Node 22\.18 or newer, or give the compiled module\)\n$/)
    }
  })

  test.each([
    [
      'a number',
      ['--export=number'],
      2,
      /^quiesce: export number of \S+plain-apps\.mjs: got 42, allowed: an app of Hono, .*createApiServer\(\) returned\n$/,
    ],
    ['a class', ['--export=App'], 2, /^quiesce: export App of \S+: got "a class", allowed: /],
    ['a server that listens', ['--export=listening'], 2, /got "a server that listens already", .*; quiesce run calls listen\(\) itself\n$/],
    [
      'no such export',
      ['--export=lief'],
      2,
      /^quiesce: --export: got "lief", allowed: an export of .*object.* \(did you mean "life"\?\)\n$/,
    ],
    [
      'flags beside a life',
      ['--export=life', '--port=1'],
      2,
      /^quiesce: --port: got "1", allowed: none: .* whose options are in its code\n$/,
    ],
    [
      'certificates beside a server',
      ['--export=httpServer', '--tls-cert-file=a', '--tls-private-key-file=b', '--port=0'],
      2,
      /^quiesce: --tls-cert-file: got "a", allowed: none: \S+ exports a server of node, .*\nquiesce: --tls-private-key-file: got "b", .*\n$/,
    ],
    ['an unknown flag', ['--prot=1'], 2, /^quiesce: --prot: unknown flag \(did you mean "--port"\?\)\n$/],
  ])('refuses %s', async (_, args, code, words) => {
    const program = runs(fixture('plain-apps.mjs'), ...args)
    expect(await program.ended()).toMatchObject({ code })
    expect(program.stderr).toMatch(words)
    expect(program.stdout).toBe('')
  })

  test('names the environment variable, where that brought it', async () => {
    const command = [process.execPath, CLI, 'run', fixture('plain-apps.mjs'), '--export=httpServer']
    const program = new TestProcess(command, { env: { QUIESCE_TLS_SELF_SIGNED: 'true' } }, '')
    expect(await program.ended()).toMatchObject({ code: 2 })
    expect(program.stderr).toMatch(/^quiesce: QUIESCE_TLS_SELF_SIGNED: got "true", allowed: none: /)
  })

  test.each([
    ['is not there', undefined, 2, /^quiesce: APP: got ".*app\.mjs", allowed: .*\(Cannot find module/],
    ['has no default export', 'export const app = 1\n', 2, /^quiesce: default export of .*: got none, .*; it exports app: --export NAME/],
    [
      'throws',
      'throw new Error("no database")\n',
      3,
      /^quiesce: .*app\.mjs could not be loaded: no database\nError: no database\n +at .*app\.mjs:1:7/,
    ],
    [
      'throws what has a number as its code',
      'throw Object.assign(new Error("E11000"), { code: 11000 })\n',
      3,
      /^quiesce: .*app\.mjs could not be loaded: E11000\nError: E11000\n +at .*app\.mjs:1:/,
    ],
    ['throws null', 'throw null\n', 3, /^quiesce: .*app\.mjs could not be loaded: null\n/],
    [
      'calls node as it must not be called',
      "import { readFileSync } from 'node:fs'\nreadFileSync(undefined)\n",
      3,
      /could not be loaded: The "path" argument must be .*\nTypeError \[ERR_INVALID_ARG_TYPE\].*\n(.*\n)*? +at .*app\.mjs:2:/,
    ],
    ['imports what is not there', "import './not-there.mjs'\n", 2, /^quiesce: APP: got ".*app\.mjs", .*not-there\.mjs.*\)\n$/],
    ['has a syntax error', '\nexport default {\n', 3, /^quiesce: .*could not be loaded: Unexpected end of input\n\S+app\.mjs:3\n/],
    ['waits for ever', 'await new Promise(() => {})\n', 3, /it waits for a promise that never settles/],
    [
      'runs its server itself',
      `import { createServer } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)}\nawait createServer(() => new Response('')).run()\n`,
      2,
      /^quiesce: run\(\) is called while its module is imported: export the server instead of running it\n$/,
    ],
  ])('says what is wrong with a module that %s', async (_, content, code, words) => {
    const app = join(temporaryFolder(), 'app.mjs')
    if (content !== undefined) writeFileSync(app, content)
    const program = runs(app, ...ADDRESS)
    const ended = await program.ended()
    expect(program.stderr).toMatch(words)
    expect(ended).toMatchObject({ code })
  })

  test('says when the module listens by itself as well', async () => {
    const app = join(temporaryFolder(), 'app.mjs')
    writeFileSync(app, "import { createServer } from 'node:http'\ncreateServer().listen(0)\nexport default () => new Response('')\n")
    const program = runs(app, ...ADDRESS)
    await program.said('quiesce: ')
    expect(program.stderr).toMatch(
      /calls listen\(\) itself, and requests to that port are not drained: export the server without calling listen\(\)\n/,
    )
  })

  test('a function of two arguments that returns a Response is told to be exported as { fetch }', async () => {
    const app = join(temporaryFolder(), 'app.mjs')
    writeFileSync(app, "export default async (request, env) => new Response('')\n")
    const program = runs(app, ...ADDRESS)
    expect((await fetch(await urlOf(program))).status).toBe(500)
    program.signal('SIGTERM')
    expect((await program.ended()).code).toBe(0)
    expect(program.stdout).toContain('a fetch function of two arguments is exported as { fetch }')
  })

  test('ends with exit code 0 when it is stopped while its module loads', async () => {
    const app = join(temporaryFolder(), 'app.mjs')
    writeFileSync(app, "process.stderr.write('loading\\n')\nsetInterval(() => {}, 1_000)\nawait new Promise(() => {})\n")
    const program = runs(app, ...ADDRESS)
    await program.said('loading')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  })
})

/** A package of two files, one of which says which version it is. */
function packageOf() {
  const folder = temporaryFolder()
  const write = (name: string, content: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  write('package.json', '{ "type": "module" }')
  write('lib/version.js', "export const version = 'one'\n")
  write(
    'src/app.js',
    `import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { version } from '../lib/version.js'
export default async (request) => {
  if (!request.url.endsWith('/slow')) return new Response(version)
  writeSync(2, 'arrived\\n')
  await sleep(3_000)
  return new Response('slow ' + version)
}
`,
  )
  return {
    app: join(folder, 'src/app.js'),
    write,
    version: (name: string) => write('lib/version.js', `export const version = '${name}'\n`),
  }
}

describe('quiesce run --watch', () => {
  test('a request under way at a change is answered by the old generation; what changes in the drain is in the next one', async () => {
    const { app, version } = packageOf()
    const program = runs(app, '--watch', ...ADDRESS)
    const first = await urlOf(program)
    expect(await (await fetch(first)).text()).toBe('one')
    const slow = fetch(`${first}/slow`)
    await program.said('arrived')
    version('two')
    await program.said('quiesce: lib/version.js has changed: draining generation 1')
    version('three')
    expect(await (await slow).text()).toBe('slow one')
    const second = await urlOf(program, 2)
    // A change that is heard late is one more generation.
    await expect.poll(async () => (await fetch(urls(program).at(-1) ?? second)).text()).toBe('three')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  })

  test('a module that cannot be loaded is waited for', async () => {
    const { app, write, version } = packageOf()
    write('lib/version.js', 'export const version = \n')
    const program = runs(app, '--watch', ...ADDRESS)
    await program.said('quiesce: generation 1 ended with exit code 3; waiting for a change in ')
    expect(program.stderr).toContain('version.js:2')
    version('mended')
    expect(await (await fetch(await urlOf(program))).text()).toBe('mended')
    write('more/of/it.js', '')
    await program.said('quiesce: more')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  })

  test('a module that has closed the channel to the watcher is replaced like any other', async () => {
    const { app, write } = packageOf()
    const answering = (what: string): string => `process.disconnect?.()\nexport default () => new Response('${what}')\n`
    write('src/app.js', answering('old'))
    const program = runs(app, '--watch', ...ADDRESS)
    expect(await (await fetch(await urlOf(program))).text()).toBe('old')
    write('src/app.js', answering('new'))
    expect(await (await fetch(await urlOf(program, 2))).text()).toBe('new')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  })

  test('a stop while it waits ends it', async () => {
    const { app, write } = packageOf()
    write('src/app.js', 'export default 42\n')
    const program = runs(app, '--watch', ...ADDRESS)
    await program.said('quiesce: generation 1 ended with exit code 2; waiting for a change in ')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  })

  test('a stop that kills a generation before it listens to it is in order', async () => {
    const { app } = packageOf()
    const program = runs(app, '--watch', ...ADDRESS)
    // In the step in which the generation is started, whose node takes longer to begin.
    await program.said('quiesce: watching ')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  })

  test('SIGTERM drains the generation that runs, and has its exit code', async () => {
    const { app } = packageOf()
    const program = runs(app, '--watch', '--request-drain-timeout=100ms', ...ADDRESS)
    const url = await urlOf(program)
    const slow = fetch(`${url}/slow`).then(
      (answer) => answer.status,
      () => 'cut',
    )
    await program.said('arrived')
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 5, signal: null })
    expect(await slow).not.toBe(200)
  })

  test('a generation that is too busy to hear of a change, or of a signal, is killed', async () => {
    const { app, version, write } = packageOf()
    // It waits in its own way: a loop would take a processor from the tests beside this one.
    const busy =
      "import { writeSync } from 'node:fs'\nexport let version\nwriteSync(2, 'busy\\n')\nAtomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)\n"
    write('lib/version.js', busy)
    const program = runs(app, '--watch', ...ADDRESS)
    await program.said('busy')
    version('mended')
    await program.said('quiesce: generation 1 does not answer: killing it')
    expect(await (await fetch(await urlOf(program))).text()).toBe('mended')
    write('lib/version.js', `${busy}\n`)
    await expect.poll(() => program.stderr.match(/^busy$/gm), { timeout: 15_000 }).toHaveLength(2)
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 1, signal: null })
  })

  test('a generation does not outlive its watcher', async () => {
    const { app } = packageOf()
    const program = runs(app, '--watch', ...ADDRESS)
    const url = await urlOf(program)
    program.child.kill('SIGKILL')
    await program.ended()
    await expect(fetch(url)).rejects.toThrow()
  })
})
