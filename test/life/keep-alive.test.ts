// Fails when: a life without a server does not keep its process, keeps it after its end, or keeps
// one whose life has ended already.
import { expect, test } from 'vitest'
import { keepAliveUntil } from '#src/process/keep-alive.ts'

/** Of this process: what keeps it alive and is a port. */
const ports = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length

test('a port keeps the process until the end, and no longer', async () => {
  const before = ports()
  const end = new AbortController()
  keepAliveUntil(end.signal)
  expect(ports()).toBe(before + 1)
  end.abort()
  await expect.poll(ports).toBe(before)
})

test('after the end nothing keeps it', () => {
  const before = ports()
  keepAliveUntil(AbortSignal.abort())
  expect(ports()).toBe(before)
})
