import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startServer, temporaryFolder } from '../support/process.ts'

/**
 * The report file of a real process. That it is there, complete and as its schema says on orderly, failed, forced and cut
 * ends is required by every `program.report()` of these tests; here is what else can happen to it.
 */

test('a report that cannot be written costs 4 and one line on standard error', async () => {
  const reportFile = join(temporaryFolder(), 'missing', 'report.json')
  const program = startServer({ options: { reportFile } })
  await (await program.connect()).ask('GET', '/hello')
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(4)
  expect(program.lines.filter((line) => line.startsWith('quiesce:'))).toEqual([
    expect.stringContaining(`quiesce: the report could not be written to ${reportFile}: ENOENT`),
  ])
  expect(program.lines).toContain('resolved 4')
})

test('so does one that cannot be written in the last moment, and the process still ends by force', async () => {
  const reportFile = join(temporaryFolder(), 'missing', 'report.json')
  const program = startServer({ options: { reportFile, deadline: '40s' } })
  await program.requested('GET', '/hang')
  program.signal('SIGTERM')
  await program.said('600 ms after the stop request')
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(1)
  expect(program.lines.filter((line) => line.startsWith('quiesce:'))).toHaveLength(1)
})

test('nothing is left beside the report', async () => {
  const folder = temporaryFolder()
  const program = startServer({ options: { reportFile: join(folder, 'report.json') } })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(readdirSync(folder)).toEqual(['report.json'])
  expect(program.report()).toMatchObject({ exitCode: 0, errors: [] })
})
