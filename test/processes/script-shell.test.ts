import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Report } from '#src/report/report.ts'
import { temporaryFolder } from '../support/process.ts'

/**
 * Servers that npm and `node --run` start, as a container does: without a terminal, and with the
 * SIGTERM for the first process alone. What is said about that has to be what happens.
 */

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const SAID = /^quiesce: .*does not pass SIGTERM on/
const serve = (reportFile: string): string => `node ${CLI} serve --port 0 --shutdown-delay-duration 0 --report-file ${reportFile}`

/** Starts this script by a command, in a process group of its own. */
async function started(command: readonly string[], script: (server: string) => string, env: NodeJS.ProcessEnv = {}) {
  const folder = temporaryFolder()
  const reportFile = join(folder, 'report.json')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', scripts: { start: script(serve(reportFile)) } }))
  const [file = '', ...args] = command
  // Nothing of the npm that runs the tests.
  const { PATH, HOME } = process.env
  const child = spawn(file, args, { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { PATH, HOME, ...env } })
  onTestFinished(() => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The group has ended.
    }
  })
  const [log, said]: [string[], string[]] = [[], []]
  createInterface({ input: child.stdout }).on('line', (line) => log.push(line))
  createInterface({ input: child.stderr }).on('line', (line) => said.push(line))
  await expect.poll(() => log.join('\n'), { timeout: 20_000 }).toContain('"msg":"Serving on ')
  const { port, pid } = JSON.parse(log.find((line) => line.includes('"msg":"Serving on ')) as string) as { port: number; pid: number }
  return {
    port,
    pid,
    log,
    warnings: () => said.filter((line) => SAID.test(line)),
    report: () => JSON.parse(readFileSync(reportFile, 'utf8')) as Report,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** A shell that waits for its command, whatever it could become. */
const waiting = (server: string): string => `${server}; true`
const replaced = (server: string): string => `exec ${server}`

describe.runIf(process.platform === 'linux')('a server that was started by a script', { timeout: 40_000 }, () => {
  test.each([
    ['npm start', ['npm', 'start'], 'npm has started this process through a shell'],
    ['npm run', ['npm', 'run', 'start'], 'npm has started this process through a shell'],
  ])('%s: says that the shell does not pass SIGTERM on, once, and it does not', async (_, command, words) => {
    const server = await started(command, waiting)
    expect(server.warnings()).toEqual([expect.stringContaining(words) as string])
    expect(server.log.filter((line) => line.includes('does not pass SIGTERM on'))).toHaveLength(1)
    await server.stop()
    // It serves on, and nothing that is left can be asked to end it.
    expect((await fetch(`http://127.0.0.1:${server.port}/echo?message=hello`)).status).toBe(200)
    process.kill(server.pid, 'SIGKILL')
  })

  test('with exec in the script it gets its SIGTERM, and nothing is said', async () => {
    const server = await started(['npm', 'start'], replaced)
    expect(server.warnings()).toEqual([])
    await server.stop()
    await expect.poll(() => server.report()).toMatchObject({ exitCode: 0, reason: { signal: 'SIGTERM' }, warnings: [] })
  })

  test('a platform that signals every process of the program does so here, too', async () => {
    const server = await started(['npm', 'start'], waiting, { DYNO: 'web.1' })
    expect(server.warnings()).toEqual([])
    process.kill(server.pid, 'SIGTERM')
    await expect.poll(() => server.report()).toMatchObject({ exitCode: 0, reason: { signal: 'SIGTERM' } })
  })
})
