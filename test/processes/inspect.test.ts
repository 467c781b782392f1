import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { ask, isSignal, StreamReader } from '../inspector/client.ts'
import { TestProcess, temporaryFolder } from '../support/process.ts'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const quiesce = (...args: string[]): TestProcess => new TestProcess([process.execPath, CLI, ...args], {}, '')

/** The URL in what a process has said. */
async function urlOf(process: TestProcess): Promise<string> {
  await expect.poll(() => process.stdout, { timeout: 20_000 }).toMatch(/\/inspector\//)
  return /http:\/\/127\.0\.0\.1:\d+\/inspector\//.exec(process.stdout)?.[0] as string
}

async function ended(process: TestProcess): Promise<{ code: number | null; stderr: string }> {
  const { code } = await process.ended()
  return { code, stderr: process.stderr }
}

describe('the inspector of quiesce serve', () => {
  test('serves the page with all that it loads, and a drill that ends in a report; both files show the same life again', async () => {
    const folder = temporaryFolder()
    const [journal, report] = [join(folder, 'journal.ndjson'), join(folder, 'report.json')]
    const server = quiesce('serve', '--port=0', '--inspector', `--journal=${journal}`, `--report-file=${report}`, '--deadline=8s')
    const url = await urlOf(server)
    await checkPage(url)

    const reader = await StreamReader.open(url)
    await reader.until(isSignal('Announced'))
    expect(reader.session).toMatchObject({ mode: 'live', canStop: true, canDrill: true })
    expect((await ask(`${url}drill`, { method: 'POST', headers: { 'Content-Type': 'application/json' } })).status).toBe(202)
    await reader.until(
      (entry) => entry.kind === 'gauges' && entry.watches === 3 && entry.blocking.requests.some(({ name }) => name === 'GET /slow'),
    )
    await reader.closed
    expect(reader.entries.at(-1)).toMatchObject({ kind: 'report', report: { exitCode: 0, reason: { kind: 'stop' } } })
    expect(await ended(server)).toEqual({ code: 0, stderr: '' })

    for (const file of [journal, report]) {
      const shown = quiesce('inspect', file)
      const recorded = await urlOf(shown)
      await checkPage(recorded)
      const again = await StreamReader.open(recorded)
      await again.closed
      expect(again.session).toMatchObject({ mode: 'recording', canStop: false, canDrill: false })
      expect(again.hasEnded).toBe(true)
      expect(again.signals).toEqual(file === journal ? reader.signals : reader.signals.slice(0, again.signals.length))
      if (file === journal) expect(again.entries).toEqual(reader.entries)
      shown.signal('SIGINT')
      expect(await ended(shown)).toEqual({ code: 0, stderr: '' })
    }
  })
})

/** The page, and whatever it refers to, with their types and under its policy. */
async function checkPage(url: string): Promise<void> {
  const page = await ask(url)
  expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } })
  expect(page.headers['content-security-policy']).toContain("script-src 'self'")
  const files = [...page.body.matchAll(/(?:src|href)="([^":#]+)"/g)].map(([, file]) => file as string)
  expect(files.some((file) => file.endsWith('.js'))).toBe(true)
  const seen = new Set<string>()
  for (const file of files) {
    const path = new URL(file, url).href
    if (seen.has(path)) continue
    seen.add(path)
    const { status, headers, body } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    if (!path.endsWith('.js')) continue
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
    for (const [, module] of body.matchAll(/\bfrom '(\.[^']+)'/g)) files.push(new URL(module as string, path).href)
  }
  expect((await ask(`${url}chart.svg`)).headers['content-type']).toBe('image/svg+xml; charset=utf-8')
}

/** Has node find no package of that name. */
const without = (name: string): string[] => {
  const hook = `export const resolve = (specifier, context, next) => { if (specifier === '${name}') throw new Error('not found'); return next(specifier, context) }`
  const url = JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)
  const registration = `import { register } from 'node:module'; register(${url})`
  return ['--import', `data:text/javascript,${encodeURIComponent(registration)}`]
}

test('without the package ws, whoever wants the official protocol is told, and the rest goes on', async () => {
  const server = new TestProcess([process.execPath, ...without('ws'), CLI, 'serve', '--port=0', '--inspector'], {}, '')
  const url = await urlOf(server)
  const client = new WebSocket(`${url.replace('http', 'ws')}ws`)
  const [, response] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(response.statusCode).toBe(501)
  expect(await text(response)).toBe('the official inspector needs the package "ws": npm install ws\n')
  expect((await ask(`${url}report`)).status).toBe(200)
  server.signal('SIGTERM')
  expect(await ended(server)).toMatchObject({ code: 0 })
})

describe('quiesce inspect', () => {
  test('of a pipe that nobody writes to is ended by Ctrl-C', async () => {
    const pipe = join(temporaryFolder(), 'pipe')
    execFileSync('mkfifo', [pipe])
    const shown = quiesce('inspect', pipe)
    // Can be opened for writing once the command has it open.
    const writer = await vi.waitFor(() => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK), { timeout: 20_000 })
    shown.signal('SIGINT')
    expect(await ended(shown)).toEqual({ code: 0, stderr: '' })
    closeSync(writer)
  })

  test('refuses what it cannot show with exit code 2 and a line', async () => {
    const file = join(temporaryFolder(), 'other.json')
    writeFileSync(file, '{"some":"json"}\n')
    expect(await ended(quiesce('inspect'))).toEqual({
      code: 2,
      stderr: 'quiesce: inspect: no file was given, allowed: a report, a journal or a counter-example\n',
    })
    expect(await ended(quiesce('inspect', '/no/such/file'))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^quiesce: \/no\/such\/file: ENOENT.*\n$/),
    })
    expect(await ended(quiesce('inspect', file))).toEqual({
      code: 2,
      stderr: `quiesce: ${file}: neither a report nor a journal of quiesce, version 1\n`,
    })
    expect(await ended(quiesce('inspect', file, '--port', '99999'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--port: got "99999"'),
    })
  })
})
