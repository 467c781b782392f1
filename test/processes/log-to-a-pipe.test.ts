import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

/**
 * Fails against `process.stdout.write` and exit (64 KiB arrive), and against pino's flushSync and
 * `fs.write` (never ends).
 */
const program = fileURLToPath(new URL('last-log-line.mjs', import.meta.url))
const MEBIBYTE = 1024 * 1024

/** A reader that never reads, and is there until the program has ended. */
const NO_READER = 'sleep 600'

/** Runs the program with a real pipe into a reader. */
async function run(
  how: 'bounded' | 'sync',
  ms: number,
  reader: string,
): Promise<{ lost: number; ms: number; code: number; received: number }> {
  const shell = spawn('sh', ['-c', `{ '${process.execPath}' '${program}' ${how} ${ms}; echo "$?" >&2; } | ${reader}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let received = 0
  let said = ''
  shell.stdout.on('data', (chunk: Buffer) => {
    received += chunk.length
  })
  shell.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    if (reader === NO_READER && said.trim().split('\n').length === 2) process.kill(-(shell.pid as number))
  })
  await new Promise((resolve) => shell.on('close', resolve))
  const [result, code] = said.trim().split('\n')
  return { ...(JSON.parse(result as string) as { lost: number; ms: number }), code: Number(code), received }
}

describe.each(['bounded', 'sync'] as const)('a last log line of 1 MiB, flushed %s', (how) => {
  test('reaches a slow pipe whole', async () => {
    const { lost, code, received } = await run(how, 10_000, `sh -c 'sleep 0.5; cat'`)
    expect({ lost, code, received }).toEqual({ lost: 0, code: 7, received: MEBIBYTE })
  })

  test('does not hold the end when nobody reads', async () => {
    const { lost, ms, code } = await run(how, 300, NO_READER)
    expect({ lost, code }).toEqual({ lost: MEBIBYTE - 64 * 1024, code: 7 })
    expect(ms).toBeGreaterThanOrEqual(299)
  })
})
