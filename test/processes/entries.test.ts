import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

/** The packages that a program below this folder loaded by the time it ended by itself with exit code 0. */
async function packagesLoadedBy(program: string): Promise<readonly string[]> {
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', path('../support/trace-loads.mjs'), path(program)])
  const { packages } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { packages: string[] }
  return packages
}

describe('what an entry loads', () => {
  test('attachLifecycle loads xstate, rxjs and what they need, and neither hono nor pino, in a whole life', async () => {
    const packages = await packagesLoadedBy('attach-only.mjs')
    expect(packages.filter((name) => !['rxjs', 'tslib', 'xstate'].includes(name))).toEqual([])
    expect(packages).toContain('xstate')
  })

  test('createServer loads the adapter and the logger that it uses', async () => {
    expect(await packagesLoadedBy('create-server.mjs')).toEqual(expect.arrayContaining(['@hono/node-server', 'pino', 'xstate']))
  })
})
