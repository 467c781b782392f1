import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll } from 'vitest'
import { runCli } from '#src/cli/cli.ts'

/**
 * A command of the CLI that serves nothing, in this process: what it wrote, and the exit code that
 * it asks for.
 */
export const runCommand = (...args: readonly string[]) => runCommandIn({}, ...args)

/** The same in an environment. */
export async function runCommandIn(
  env: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<{ readonly code: number | undefined; readonly out: string; readonly err: string }> {
  const out: string[] = []
  const err: string[] = []
  const code = await runCli({
    program: 'quiesce',
    args,
    env,
    facts: { env: {}, pid: 4711, terminal: false, containerFile: false },
    stdin: Readable.from([]),
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    earlyStop: new AbortController().signal,
    serve: () => Promise.reject(new Error('nothing is served')),
    run: () => Promise.reject(new Error('nothing is run')),
  })
  return { code, out: out.join(''), err: err.join('') }
}

/** A folder that is gone after the tests of the file that calls this at its top level. */
export function folderOfTheseTests(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  return folder
}
