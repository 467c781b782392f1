// The process's own clock. Fails when it gives node a delay that node has to correct: it says so on
// standard error, and a delay that is too long fires at once.
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#src/base/clock.ts'

test.each([-0.5, 0, 2 ** 40])('a delay of %d ms is one that node takes', async (ms) => {
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const timer = systemClock.setTimeout(() => {}, ms)
  onTestFinished(() => systemClock.clearTimeout(timer))
  // Node emits its warnings in the next tick.
  await new Promise((resolve) => setImmediate(resolve))
  expect(warnings).toEqual([])
})
