import { expect, test } from 'vitest'
import { startSpeaking } from '../support/process.ts'

/** A process whose life serves nothing, from outside. */

test('a worker lives without a server until it is stopped, ends its job and then its process', async () => {
  const program = startSpeaking('worker.mjs')
  await program.said('began 2')
  program.signal('SIGTERM')
  expect(await program.ended()).toMatchObject({ code: 0, signal: null })
  const begun = program.lines.filter((line) => line.startsWith('began')).length
  // Said only by a process that takes long to end.
  const said = program.lines.filter((line) => line !== 'still here')
  expect(said.slice(-3)).toEqual([`ended ${begun}`, 'closed by os-signal', 'over 0'])
  expect(program.report()).toMatchObject({ exitCode: 0, listeners: [], requests: { before: 1, after: 0 } })
})

test('a worker that has nothing to do at the moment lives on', async () => {
  const program = startSpeaking('worker.mjs', ['once'])
  await program.said('still here')
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
})
