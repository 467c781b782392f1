// A test runner's sandbox is a realm of its own: what node throws there is of another one, and in a
// played browser so are the signals. Fails when: an error of another realm is taken for something
// that is no error, a life fails inside xstate because of what all objects inherit, code that obeys
// its signal is said to have failed, or a foreign signal is refused, or ends a start.
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test, vi } from 'vitest'
import { isOwnAbort } from '#src/base/abort-error.ts'
import { errorRecord } from '#src/base/events.ts'
import { createLife } from '#src/index.ts'
import { SignalLatches } from '#src/lifecycle/signal-latches.ts'

/** As jsdom has it: by its looks an AbortController, and nothing that node knows. */
class ForeignController {
  readonly #heard: (() => void)[] = []
  readonly signal = {
    aborted: false,
    reason: undefined as unknown,
    addEventListener: (_: string, listener: () => void): void => void this.#heard.push(listener),
    removeEventListener: (): void => {},
  }
  abort(reason?: unknown): void {
    Object.assign(this.signal, { aborted: true, reason })
    for (const listener of this.#heard) listener()
  }
}

const thrownElsewhere = (code: string): unknown => runInNewContext(code)

test('an error of another realm keeps its name, message and code', () => {
  const thrown = thrownElsewhere("Object.assign(new TypeError('no such file'), { code: 'ENOENT' })")
  expect(thrown instanceof Error).toBe(false)
  expect(errorRecord(thrown)).toMatchObject({ name: 'TypeError', message: 'no such file', code: 'ENOENT' })
})

test("node's AbortError of another realm is our own abort", () => {
  const thrown = thrownElsewhere("Object.assign(new Error('The operation was aborted'), { name: 'AbortError' })")
  expect(isOwnAbort(thrown, AbortSignal.abort())).toBe(true)
})

test('lifecycle signals work where AbortController is not that of node', () => {
  vi.stubGlobal('AbortController', ForeignController)
  onTestFinished(() => void vi.unstubAllGlobals())
  const latches = new SignalLatches()
  expect(latches.signal('Serving').aborted).toBe(false)
  latches.fire('Serving')
  expect(latches.hasFired('Serving')).toBe(true)
})

test('a foreign signal completes the mux', async () => {
  const { signal } = new ForeignController()
  const life = createLife({ platform: 'unknown', logger: false, signals: [], signal: signal as unknown as AbortSignal })
  const controller = new ForeignController()
  life.addMuxCompleteSignal('routes', controller.signal as unknown as AbortSignal)
  await life.start()
  expect(life.signal('MuxAndDiscoveryComplete').aborted).toBe(false)
  controller.abort()
  await expect.poll(() => life.signal('MuxAndDiscoveryComplete').aborted).toBe(true)
  await life.stop()
})

test('what every object would have by Object.prototype is named, by whatever begins the life', async () => {
  const named = { code: 'ERR_START', message: expect.stringContaining('(listed)') as string }
  const life = createLife({ logger: false })
  Object.defineProperty(Object.prototype, 'listed', { value: () => {}, enumerable: true, configurable: true })
  // Vitest, too, looks at objects.
  const ended = await Promise.allSettled([life.start(), life.stop(), life.run()]).finally(() =>
    Reflect.deleteProperty(Object.prototype, 'listed'),
  )
  expect(ended).toMatchObject([{ reason: named }, { reason: named }, { reason: named }])
  await life.start()
  await life.stop()
})
