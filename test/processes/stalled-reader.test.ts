// A log whose reader stalls. Fails when: lines are given up although the deadline has time for
// them, a reader that never comes back holds the end beyond it, or what is lost is said nowhere.
import { expect, test } from 'vitest'
import { startServer, type TestProcess } from '../support/process.ts'

/** Its log has a megabyte at its end, of which a pipe takes a part. */
const shouting = (deadline: string): TestProcess =>
  startServer({ options: { deadline, shutdownDelay: 0, lastCall: 0 }, hooks: [{ kind: 'pre-shutdown', name: 'loud', does: 'shouts' }] })

/** Stops it with nothing read from its log; resolves when that has begun. */
async function stopUnread(program: TestProcess): Promise<number> {
  await program.serving()
  program.child.stdout?.pause()
  return program.signal('SIGTERM')
}

test('gets every line when it comes back before the deadline', async () => {
  const program = shouting('20s')
  const begunAt = await stopUnread(program)
  // Longer than what is kept of the time for the log.
  await expect.poll(() => performance.now() - begunAt).toBeGreaterThan(1_500)
  expect(program.child.exitCode).toBe(null)
  program.child.stdout?.resume()
  expect((await program.ended()).code).toBe(4)
  expect(program.log.filter(({ msg }) => msg.length > 1_000_000 || JSON.stringify(msg).length > 0).length).toBeGreaterThan(5)
  expect(program.stderr).not.toContain('lost')
  expect(program.report().warnings).toEqual([])
})

test('that never comes back costs the deadline and not more, and the lines are counted', async () => {
  const program = shouting('2s')
  const begunAt = await stopUnread(program)
  await new Promise((resolve) => program.child.once('exit', resolve))
  const tookMs = performance.now() - begunAt
  program.child.stdout?.resume()
  expect((await program.ended()).code).toBe(4)
  expect(tookMs).toBeGreaterThan(1_000)
  expect(tookMs).toBeLessThan(4_000)
  expect(program.stderr).toMatch(/quiesce: .*log lines? (was|were) lost/)
  expect(program.report().warnings).toContainEqual(expect.objectContaining({ message: 'log lines were lost' }))
})
