// `npm start`, the example server with its demonstration. Fails when: it does not end gracefully
// with what sends the signal; or nothing of its own is there to be drained.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import type { Report } from '#src/report/report.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * `npm start -- ARGS` in a process group of its own, as a terminal would start it, and the port
 * that it says it serves on.
 */
async function npmStart(...args: string[]): Promise<{ npm: ChildProcess; port: number }> {
  const npm = spawn('npm', ['start', '--', '--port', '0', ...args], { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => {
    try {
      if (npm.pid !== undefined) process.kill(-npm.pid, 'SIGKILL')
    } catch {
      // The group has ended, as it should have.
    }
  })
  const output: string[] = []
  let served = 0
  const port = await new Promise<number>((resolve, reject) => {
    // Read to the end, or the server's log would block on a full pipe.
    createInterface({ input: npm.stdout }).on('line', (line) => {
      output.push(line)
      if (line.includes('"msg":"Serving on ')) served = (JSON.parse(line) as { port: number }).port
      // The last line of the first screen.
      if (/"msg":"To have something to drain, this server is its own client: GET \/watch, and /.test(line)) resolve(served)
    })
    npm.once('exit', () => reject(new Error(`npm start ended without serving:\n${output.join('\n')}`)))
  })
  return { npm, port }
}

test.each([
  ['SIGTERM to npm alone, as a process manager sends it', (npm: ChildProcess) => npm.kill('SIGTERM')],
  ['SIGINT to the whole group, as Ctrl-C sends it', (npm: ChildProcess) => process.kill(-(npm.pid as number), 'SIGINT')],
])('npm start ends gracefully on %s', async (_, send) => {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const reportFile = join(folder, 'report.json')
  const { npm, port } = await npmStart('--report-file', reportFile)
  expect((await fetch(`http://127.0.0.1:${port}/echo?message=hello`)).status).toBe(200)

  const ended = once(npm, 'exit')
  send(npm)
  await ended
  // npm itself ends by the signal; how the server ended stands in its report, and nothing of it is
  // left.
  const report = JSON.parse(await readFile(reportFile, 'utf8')) as Report
  // It has had something to drain, and the time for it: requests of its own, and a watch.
  expect(report).toMatchObject({ exitCode: 0, watches: { before: 1, after: 0 }, requests: { after: 0 }, budget: { delay: 3_000 } })
  expect(report.requests.before).toBeGreaterThanOrEqual(1)
  expect(report.hooks).toContainEqual(expect.objectContaining({ name: 'leave-registry', outcome: 'ok' }))
  await expect(fetch(`http://127.0.0.1:${port}/echo`)).rejects.toThrow('fetch failed')
})
