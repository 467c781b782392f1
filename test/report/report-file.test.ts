// How a report gets to its place, in order and in the last moment; what real processes do about it
// is in test/processes/report-on-disk.test.ts. Fails when: a reader gets half of a report, an
// earlier one is lost for nothing, something is left beside it, or a place is taken that will not
// do.
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { QuiesceError } from '#src/base/errors.ts'
import { checkReportFile, writeReport, writeReportNow } from '#src/report/report-file.ts'
import { newLife } from '../support/life.ts'
import { quietLife, reportOf } from './lives.ts'

const report = reportOf(quietLife)
const EARLIER = '{ "the report": "of an earlier run" }'
/** Linux lets nobody write it, root included. */
const UNWRITABLE = '/proc/sys/kernel/ostype'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'quiesce-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

/** What we write to standard error, as a list; node may have something to say there, too. */
function standardError(): () => string[] {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  return () => write.mock.calls.map(([text]) => String(text)).filter((text) => text.startsWith('quiesce: '))
}

const isWritten = (path: string): void => expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ exitCode: 0 })

/** Both ways to write it: whether it may be written again, or what went wrong. */
const WAYS = [
  [
    'in order',
    (path: string | undefined): Promise<boolean | string> =>
      writeReport(path, report, new AbortController().signal).catch((thrown: unknown) => (thrown as QuiesceError).code),
  ],
  ['in the last moment', async (path: string | undefined): Promise<boolean | string> => writeReportNow(path, report)],
] as const

test('a relative place is where it was at the start, also when the process is elsewhere at the end', async () => {
  const [begun, ended] = [folder(), folder()]
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  process.chdir(begun)
  const t = newLife({ options: { reportFile: 'report.json' } })
  await t.life.start()
  process.chdir(ended)
  await t.life.stop()
  isWritten(join(begun, 'report.json'))
  expect(readdirSync(ended)).toEqual([])
})

describe.each(WAYS)('a report that is written %s', (how, write) => {
  /** What {@link write} gives when the report could not be written. */
  const failed = how === 'in order' ? 'ERR_REPORT_WRITE' : false

  test('goes nowhere without a file', async () => {
    const said = standardError()
    expect(await write(undefined)).toBe(false)
    expect(said()).toEqual([])
  })

  test('is alone in its folder, and may be written again', async () => {
    const path = join(folder(), 'report.json')
    expect(await write(path)).toBe(true)
    isWritten(path)
    expect(readdirSync(join(path, '..'))).toEqual(['report.json'])
  })

  test('leaves an earlier one whole for those who read it', async () => {
    const path = join(folder(), 'report.json')
    writeFileSync(path, EARLIER)
    const reader = openSync(path, 'r')
    onTestFinished(() => closeSync(reader))
    expect(await write(path)).toBe(true)
    isWritten(path)
    expect(readFileSync(reader, 'utf8')).toBe(EARLIER)
  })

  test('goes where a link leads, and may be written again', async () => {
    const [target, path] = [join(folder(), 'target.json'), join(folder(), 'link.json')]
    symlinkSync(target, path)
    expect(await write(path)).toBe(true)
    isWritten(target)
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
  })

  test('holds no file open', async () => {
    const path = join(folder(), 'link.json')
    symlinkSync(join(folder(), 'target.json'), path)
    const free = (): number => {
      const fd = openSync('.', 'r')
      closeSync(fd)
      return fd
    }
    const before = free()
    await write(path)
    expect(free()).toBe(before)
  })

  test('into a pipe is not written again', async () => {
    const path = join(folder(), 'pipe')
    execFileSync('mkfifo', [path])
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    onTestFinished(() => closeSync(reader))
    expect(await write(path)).toBe(false)
    const read = Buffer.alloc(100_000)
    expect(JSON.parse(read.toString('utf8', 0, readSync(reader, read)))).toMatchObject({ exitCode: 0 })
  })

  test.each([
    ['is free', undefined],
    ['an earlier one has', EARLIER],
  ])('does not take a place that %s when it may not be whole', async (_, earlier) => {
    const said = standardError()
    // A name that has no room for another one beside it.
    const path = join(folder(), 'r'.repeat(250))
    if (earlier !== undefined) writeFileSync(path, earlier)
    expect(await write(path)).toBe(failed)
    expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined).toBe(earlier)
    expect(said()).toEqual([expect.stringContaining(`quiesce: the report could not be written to ${path}: ENAMETOOLONG`)])
  })

  test('says which folder is missing', async () => {
    const said = standardError()
    const path = join(folder(), 'missing', 'report.json')
    expect(await write(path)).toBe(failed)
    expect(said()).toEqual([expect.stringMatching(/^quiesce: the report .*: ENOENT: no such file or directory, open .*\n$/)])
  })
})

describe('a report that there is no time for any more', () => {
  test.each([
    ['before it is written', (stop: AbortController) => stop.abort()],
    [
      'before it is moved to its place',
      ({ signal }: AbortController) =>
        vi.spyOn(signal, 'throwIfAborted').mockImplementation(() => {
          vi.spyOn(signal, 'aborted', 'get').mockReturnValue(true)
          throw new DOMException('no time', 'AbortError')
        }),
    ],
  ])('%s, is given up without a word', async (_, abort) => {
    const said = standardError()
    const path = join(folder(), 'report.json')
    writeFileSync(path, EARLIER)
    const stop = new AbortController()
    abort(stop)
    await expect(writeReport(path, report, stop.signal)).rejects.toThrow(QuiesceError)
    expect(readFileSync(path, 'utf8')).toBe(EARLIER)
    expect(readdirSync(join(path, '..'))).toEqual(['report.json'])
    expect(said()).toEqual([])
  })
})

describe('at the start, a place for the report', () => {
  test.each<[string, () => string | undefined]>([
    ['may be none', () => undefined],
    ['may be in any folder', () => join(folder(), 'report.json')],
    [
      'may have an earlier one',
      () => {
        const path = join(folder(), 'report.json')
        writeFileSync(path, EARLIER)
        return path
      },
    ],
    ['may be a device', () => '/dev/null'],
  ])('%s', (_, path) => {
    expect(() => checkReportFile(path())).not.toThrow()
  })

  test.each([
    ['in a folder that is missing', () => join(folder(), 'missing', 'report.json'), 'ENOENT: no such file or directory, access'],
    ['that is a folder', () => folder(), 'it is a directory'],
  ])('%s will not do', (_, path, why) => {
    expect(() => checkReportFile(path())).toThrow(why)
  })

  test.runIf(process.platform === 'linux')('that cannot be written will not do, nor a link that leads there', () => {
    const link = join(folder(), 'link.json')
    symlinkSync(UNWRITABLE, link)
    expect(() => checkReportFile(UNWRITABLE)).toThrow(`access '${UNWRITABLE}'`)
    expect(() => checkReportFile(link)).toThrow(`access '${link}'`)
  })

  test.runIf(process.platform === 'linux' && process.getuid?.() !== 0)('that cannot be written may still be replaced', () => {
    const path = join(folder(), 'report.json')
    writeFileSync(path, EARLIER, { mode: 0o400 })
    expect(() => checkReportFile(path)).not.toThrow()
  })
})
