// `quiesce-apiserver` as its users have it: a process, its streams, its exit code, and clients.
// Fails when: it serves without TLS, a flag, a variable or the config file does not come to the
// server, a request that is under way at SIGTERM is not answered, an app behind the filters is not
// asked, or what cannot be used is not named, all of it at once.
import { writeFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ProcessOptions, TestProcess, temporaryFolder } from '../support/process.ts'

const programAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const CLI = programAt('dist/cli.js')
const API_SERVER = programAt('packages/apiserver/dist/cli.js')
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url))

const apiserver = (args: readonly string[], options: ProcessOptions = {}): TestProcess =>
  new TestProcess([process.execPath, API_SERVER, ...args], options, '')
const serves = (args: readonly string[], options?: ProcessOptions): TestProcess => apiserver(['--secure-port=0', ...args], options)
const command = (name: string, args: readonly string[]): TestProcess => new TestProcess([process.execPath, CLI, name, ...args], {}, '')

async function urlOf(program: TestProcess): Promise<string> {
  for (;;) {
    const line = program.log.find(({ msg }) => msg.startsWith('Serving on '))
    if (line) return line.msg.slice('Serving on '.length)
    if (program.child.exitCode !== null) throw new Error(`it ended without serving:\n${program.stdout}${program.stderr}`)
    await program.next()
  }
}

/** Who is called eve may read the version. */
const ROLES = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: version }
rules: [{ verbs: [get], nonResourceURLs: [/version] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: eve }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: version }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: eve }]
`

/** Asks over HTTP/2, taking every certificate, on a connection of its own: a 401 closes one. */
const clientOf =
  (url: string) =>
  async (path: string, token?: string): Promise<readonly [status: number | undefined, body: string]> => {
    const session = connect(url, { rejectUnauthorized: false })
    onTestFinished(() => session.destroy())
    const stream = session.request({ ':path': path, ...(token !== undefined && { authorization: `Bearer ${token}` }) })
    const head = new Promise<number | undefined>((resolve, reject) => {
      session.once('error', reject)
      stream.once('response', ({ ':status': status }) => resolve(status)).once('error', reject)
    })
    const answer = [await head, await text(stream)] as const
    session.close()
    return answer
  }

describe('quiesce-apiserver', () => {
  test('serves its own paths by HTTPS, with a certificate of its own, until SIGTERM', async () => {
    const program = serves([])
    const url = await urlOf(program)
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
    const ask = clientOf(url)
    await expect.poll(() => ask('/readyz')).toEqual([200, 'ok'])
    const [, index] = await ask('/')
    const { paths } = JSON.parse(index) as { readonly paths: readonly string[] }
    expect(paths).toEqual(expect.arrayContaining(['/healthz', '/livez', '/metrics', '/readyz', '/version']))
    expect(paths).not.toContain('/apis')
    expect(JSON.parse((await ask('/version'))[1])).toEqual({ gitVersion: expect.stringMatching(/^v\d+\.\d+\.\d+$/) })
    expect((await ask('/api/v1/pods'))[0]).toBe(404)
    program.signal('SIGTERM')
    expect(await program.ended()).toMatchObject({ code: 0, signal: null })
    expect(program.stderr).toBe('')
    expect(program.log.at(-1)?.msg).toBe('[graceful-termination] apiserver is exiting')
  })

  test('serves the servers of a module with the config that it was told, and drains them', async () => {
    const config = join(temporaryFolder(), 'apiserver.yaml')
    writeFileSync(config, 'max-requests-inflight: 5\nshutdown-delay-duration: 100ms\naudit-log-path: "-"\nlog-level: warn\n')
    const args = [fixture('api-servers.mjs'), '--config', config, '--log-level=info', '--tls-self-signed=false']
    const program = serves(args, { env: { QUIESCE_MAX_REQUESTS_INFLIGHT: '7', QUIESCE_DEADLINE: '9s' } })
    const url = await urlOf(program)
    expect(url).toMatch(/^http:/)
    const ask = (path: string): Promise<Response> => fetch(`${url}${path}`)
    expect(await (await ask('/api/limit')).text()).toBe('7')
    await expect.poll(async () => (await ask('/readyz/poststarthook/storage-readiness')).status).toBe(200)
    const slow = ask('/api/slow')
    await program.said('arrived')
    program.signal('SIGTERM')
    expect([(await slow).status, await (await slow).text()]).toEqual([200, 'done'])
    expect((await program.ended()).code).toBe(0)
    expect(program.log.map(({ msg }) => msg)).toContain(
      '--audit-log-path has no effect without --audit-policy-file: no audit policy is given, so nothing is audited',
    )
    const defaults = program.log.find(({ platform }) => platform !== undefined)?.['defaults']
    expect(defaults).toMatchObject({ deadline: { ms: 9_000 }, shutdownDelay: { ms: 100, because: 'given' } })
  })

  test('has an app answer behind the filters, at every path that is not its own', async () => {
    const apps = ['expressApp', 'fastify']
    const answers = await Promise.all(
      apps.map(async (name) => {
        const program = serves([fixture('apps.mjs'), '--export', name, '--tls-self-signed=false'])
        const url = await urlOf(program)
        const answer = await fetch(url)
        const found = [answer.status, await answer.text(), answer.headers.has('audit-id'), (await fetch(`${url}/readyz`)).status]
        program.signal('SIGTERM')
        return [...found, (await program.ended()).code, program.stderr]
      }),
    )
    expect(answers).toEqual(apps.map((name) => [200, 'hello', true, 200, 0, name === 'fastify' ? 'onClose\n' : '']))
  })

  test('knows who asks, by a file of tokens, and who may, by a file of roles', async () => {
    const folder = temporaryFolder()
    const [tokens, roles] = [join(folder, 'tokens.csv'), join(folder, 'rbac.yaml')]
    writeFileSync(tokens, 'of-eve,eve,1\nof-root,root,2,"system:masters"\n')
    writeFileSync(roles, ROLES)
    const files = [`--token-auth-file=${tokens}`, `--authorization-rbac-file=${roles}`]
    const program = serves([...files, '--authorization-mode=RBAC', '--anonymous-auth=false'])
    const ask = clientOf(await urlOf(program))
    const statusOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked))[0]
    expect([await statusOf('/version'), await statusOf('/version', 'of-none')]).toEqual([401, 401])
    expect([await statusOf('/version', 'of-eve'), await statusOf('/metrics', 'of-eve')]).toEqual([200, 403])
    expect(await statusOf('/metrics', 'of-root')).toBe(200)
    program.signal('SIGTERM')
    expect((await program.ended()).code).toBe(0)
  })

  test('says what cannot be used, all of it at once, with exit code 2', async () => {
    const folder = temporaryFolder()
    const config = join(folder, 'broken.yaml')
    writeFileSync(config, 'request-timeout: -1m\nlivez-grace-period: 1y\nmax-request-inflight: 3\n')
    const refused = async (args: readonly string[], env = {}): Promise<readonly string[]> => {
      const program = apiserver(args, { env })
      expect(await program.ended()).toMatchObject({ code: 2 })
      expect(program.stdout).toBe('')
      return program.stderr.trimEnd().split('\n')
    }
    const [anotherCopy, nothing] = ['other-copy.mjs', 'nothing.mjs'].map((name) => join(folder, name)) as [string, string]
    const error = 'Object.assign(new Error("\\"db\\" is there"), { code: "ERR_DUPLICATE" })'
    writeFileSync(anotherCopy, `export function apiServer() {\n  throw ${error}\n}\n`)
    writeFileSync(nothing, 'export const apiServer = () => Promise.reject()\n')
    const rejected = apiserver([nothing])
    const [flags, notThere, life, other, copy] = await Promise.all([
      refused([`--config=${config}`, '--max-requests-inflight=-1', '--goaway-chance=1', '--nope'], { QUIESCE_SECURE_PORT: '70000' }),
      refused([join(folder, 'missing.mjs')]),
      refused([fixture('api-servers.mjs'), '--export=own']),
      refused([fixture('no-api-server.mjs')]),
      refused([anotherCopy]),
    ])
    expect(copy).toEqual(['quiesce-apiserver: "db" is there'])
    expect(await rejected.ended()).toMatchObject({ code: 3 })
    expect(rejected.stderr).toMatch(/^quiesce-apiserver: .*nothing.mjs could not be loaded: undefined\n/)
    const starting = (...beginnings: readonly string[]) =>
      beginnings.map((beginning) => expect.stringMatching(`^quiesce-apiserver: ${beginning}`))
    expect(flags).toEqual(
      starting(
        '--nope: unknown flag',
        'max-request-inflight in .*broken.yaml: unknown key \\(did you mean "max-requests-inflight"\\?\\)',
        '--goaway-chance: got "1", .*can not be less than 0 or greater than 0.02',
        '--max-requests-inflight: got "-1", .*can not be negative value',
        'QUIESCE_SECURE_PORT: got 70000, ',
        'request-timeout in .*broken.yaml: got "-1m", .*can not be negative value',
        'livez-grace-period in .*broken.yaml: got "1y"',
      ),
    )
    expect(notThere).toEqual(starting('APP: got ".*missing.mjs", allowed: '))
    expect(life).toEqual(starting('APP: .*api-servers.mjs exports a server whose options are in its code: quiesce run '))
    expect(other).toEqual(starting('what apiServer\\(config\\) of .*no-api-server.mjs returned: got .*, allowed: what createApiServer'))
  })
})

describe('other commands', () => {
  test('of quiesce lead to it', async () => {
    const through = command('apiserver', ['--secure-portt=0'])
    expect(await through.ended()).toMatchObject({ code: 2 })
    expect(through.stderr).toMatch(/^quiesce-apiserver: --secure-portt: .*--secure-port/)
  })

  test('explain themselves, and say their version', async () => {
    const [help, version] = [apiserver(['-h']), apiserver(['--version'])]
    expect(await help.ended()).toMatchObject({ code: 0 })
    expect(help.stdout).toMatch(/^Usage: quiesce-apiserver \[APP\] \[flags\]\n/)
    expect(help.stdout).toContain('\nSecure serving flags:\n')
    expect(await version.ended()).toMatchObject({ code: 0 })
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  test('know an API server: run serves it, plan and check look at it', async () => {
    const module = fixture('api-servers.mjs')
    const plan = command('plan', ['--config', module, '--json'])
    const run = command('run', [module, '--export=own'])
    const url = await urlOf(run)
    expect((await fetch(`${url}/version`)).status).toBe(200)
    run.signal('SIGTERM')
    expect((await run.ended()).code).toBe(0)
    expect(await plan.ended(), plan.stderr).toMatchObject({ code: 0 })
    expect(JSON.parse(plan.stdout)).toMatchObject({ of: module, chosen: { requestTimeout: { ms: 60_000 } } })
    const check = command('check', ['--config', module, '--states-max=10'])
    expect((await check.ended()).code).toBe(2)
    expect(check.stderr).toMatch(/^quiesce: --states-max: this server has more than 10 states/)
  })
})
