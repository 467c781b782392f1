import { expect, test } from 'vitest'
import { startProgram } from '../support/process.ts'

/**
 * `LIVES=1000 npm test -- test/processes/many-lives` for a longer look; what counts here is growth
 * per life, not its amount.
 */
const LIVES = Number(process.env['LIVES'] ?? 50)
/**
 * A life that is kept costs more than a megabyte; what the collector has not looked at yet, a few
 * kilobytes. On a busy machine the last life is sometimes still there when it looks.
 */
const BYTES_PER_LIFE_MAX = 64 * 1024

test(`${LIVES} lives, one after the other, leave no listener and no memory behind`, { timeout: 60_000 + LIVES * 1_000 }, async () => {
  const program = startProgram('many-lives.mjs', { lives: LIVES, settled: LIVES / 2 }, { nodeOptions: ['--expose-gc'] })
  const left = JSON.parse(await program.said('left')) as { warnings: string[]; more: number[]; bytesPerLife: number }
  expect((await program.ended()).code).toBe(0)
  expect(left).toEqual({ warnings: [], more: left.more.map(() => 0), bytesPerLife: expect.any(Number) })
  expect(left.bytesPerLife).toBeLessThan(BYTES_PER_LIFE_MAX)
})
