// Who reads a life: programs, or people. Fails when: lines are written for the wrong ones of them,
// or for none where there is a log; or an end is drawn where nobody looks, or where a logger has
// the word.
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { Host, HostProcess } from '#src/actors/host.ts'
import { type DefaultLog, Output } from '#src/lifecycle/output.ts'
import { LogDestination } from '#src/log/log-destination.ts'
import type { Logger } from '#src/log/logger.ts'
import type { Pretty } from '#src/platforms/terminal.ts'
import type { PresentedLife } from '#src/terminal/presentation.ts'
import { FakeProcess } from '#src/testing/fake-process.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

interface Chosen {
  readonly logger?: Logger | false
  readonly pretty: Pretty
}

const outputIn = (ofLife: HostProcess, { logger, pretty }: Chosen, log: DefaultLog = { isForAll: true }): Output =>
  new Output({ process: ofLife } as Host, { logger, pretty }, log, () => 0)

const quiet = (): void => {}
const LOGGER: Logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }

describe('the log of a life', () => {
  /** In which way one line comes to standard output. */
  async function written(output: Output, isRun: boolean): Promise<string> {
    const logger = await output.openLogger(isRun)
    if (!logger) return 'nowhere'
    const lines: string[] = []
    vi.spyOn(LogDestination.prototype, 'write').mockImplementation((line) => void lines.push(line))
    logger.info({}, 'a line')
    expect(lines.join('')).toContain('a line')
    return lines[0]?.startsWith('{') ? 'for programs' : 'for people'
  }

  test.each([
    ['that has no process to itself, of a server', true, { isForAll: true }, false, 'for people'],
    ['that runs, of a server', true, { isForAll: true }, true, 'for people'],
    ['that runs, around a server of others', true, { isForAll: false }, true, 'for people'],
    ['that has no process to itself, around a server of others', true, { isForAll: false }, false, 'nowhere'],
    ['of a server, which only programs read', false, { isForAll: true }, true, 'for programs'],
    ['around a server of others, which only programs read', false, { isForAll: false }, true, 'nowhere'],
  ])('%s', async (_, pretty, log, isRun, expected) => {
    expect(await written(outputIn(process, { pretty }, log), isRun)).toBe(expected)
  })

  test('is for programs in a process that a test has made', async () => {
    expect(await written(outputIn(new FakeProcess().asHostProcess(), { pretty: true }), true)).toBe('for programs')
  })

  test('is the logger that was given, or none', async () => {
    expect(await outputIn(process, { logger: LOGGER, pretty: true }).openLogger(true)).toBe(LOGGER)
    expect(await outputIn(process, { logger: false, pretty: true }).openLogger(true)).toBe(false)
  })
})

describe('the end of a life', () => {
  const life: PresentedLife = {
    events$: { subscribe: quiet },
    get report(): never {
      throw new Error('nothing has ended')
    },
    progress: () => undefined,
    secondSignal: undefined,
    gauges: () => {
      throw new Error('nothing is drawn')
    },
  }
  const isShown = async (output: Output): Promise<boolean> => (await output.present(life, () => false)) !== undefined

  test.each([
    ['where that was asked for', { pretty: true }, true],
    ['where that was asked for beside a logger', { logger: LOGGER, pretty: true }, true],
    ['at a terminal', { pretty: 'auto' }, true],
    ['not at a terminal that has a logger', { logger: LOGGER, pretty: 'auto' }, false],
    ['not where nothing is logged', { logger: false, pretty: true }, false],
    ['not where it was refused', { pretty: false }, false],
  ] as const)('is shown %s', async (_, chosen, expected) => {
    const { stdout } = process
    const before = Object.getOwnPropertyDescriptor(stdout, 'isTTY')
    Object.defineProperty(stdout, 'isTTY', { value: true, configurable: true, writable: true })
    vi.stubEnv('CI', '')
    try {
      expect(await isShown(outputIn(process, chosen))).toBe(expected)
    } finally {
      if (before) Object.defineProperty(stdout, 'isTTY', before)
      else Reflect.deleteProperty(stdout, 'isTTY')
    }
  })

  test('is not shown in a process that a test has made', async () => {
    expect(await isShown(outputIn(new FakeProcess().asHostProcess(), { pretty: true }))).toBe(false)
  })
})
