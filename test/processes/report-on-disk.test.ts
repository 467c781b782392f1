import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startServer, type TestProcess, temporaryFolder } from '../support/process.ts'

/**
 * The report file of a real process. That it is there, complete and as its schema says on orderly,
 * failed, forced and cut ends is required by every `program.report()` of these tests; here is what
 * else can happen to it.
 */

test.each([
  ['in a folder that is not there', () => join(temporaryFolder(), 'missing', 'report.json'), 'ENOENT'],
  ['that is a folder', () => temporaryFolder(), 'it is a directory'],
])('a report file %s is refused at the start', async (_, path, why) => {
  const program = startServer({ options: { reportFile: path() } })
  expect((await program.ended()).code).toBe(3)
  const said = program.stderr.split('\n').filter((line) => line.startsWith('quiesce: exit code'))
  expect(said).toEqual([expect.stringMatching(/^quiesce: exit code 3: could not start: .*the report could not be written to/)])
  expect(said[0]).toContain(why)
})

/** A program whose report has a folder while it starts, and none when it ends. */
async function startedWithFolder(options: object = {}): Promise<{ program: TestProcess; reportFile: string }> {
  const folder = join(temporaryFolder(), 'removed')
  mkdirSync(folder)
  const reportFile = join(folder, 'report.json')
  const program = startServer({ options: { reportFile, ...options } })
  await program.serving()
  rmSync(folder, { recursive: true })
  return { program, reportFile }
}

const complaints = ({ lines }: TestProcess): string[] => lines.filter((line) => line.startsWith('quiesce: the report'))

test('a report that cannot be written any more costs 4 and one line on standard error', async () => {
  const { program, reportFile } = await startedWithFolder()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(4)
  expect(complaints(program)).toEqual([expect.stringContaining(`quiesce: the report could not be written to ${reportFile}: ENOENT`)])
  expect(program.lines).toContain('resolved 4')
})

test('so does one that cannot be written in the last moment, and the process still ends by force', async () => {
  const { program } = await startedWithFolder({ deadline: '40s' })
  await program.requested('GET', '/hang')
  program.signal('SIGTERM')
  await program.said('600 ms after the stop request')
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(1)
  expect(complaints(program)).toHaveLength(1)
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

describe.skipIf(process.platform === 'win32')('a report that goes to a pipe', () => {
  const pipe = (): string => {
    const path = join(temporaryFolder(), 'report')
    execFileSync('mkfifo', [path])
    return path
  }

  test('is read from it', async () => {
    const reportFile = pipe()
    const reader = spawn('cat', [reportFile], { stdio: ['ignore', 'pipe', 'ignore'] })
    onTestFinished(() => void reader.kill('SIGKILL'))
    const program = startServer({ options: { reportFile } })
    await program.serving()
    program.signal('SIGTERM')
    expect(JSON.parse(await text(reader.stdout))).toMatchObject({ exitCode: 0 })
    expect((await program.ended()).code).toBe(0)
    expect(lstatSync(reportFile).isFIFO()).toBe(true)
  })

  test.each([
    ['in order', 4],
    ['by force', 1],
  ])('that nobody reads holds nobody: a process that ends %s does', async (how, code) => {
    const reportFile = pipe()
    const program = startServer({ options: { reportFile, deadline: '40s' } })
    expect(await endingCode(program, how)).toBe(code)
    expect(complaints(program)).toEqual([expect.stringContaining(`quiesce: the report could not be written to ${reportFile}: ENXIO`)])
    expect(lstatSync(reportFile).isFIFO()).toBe(true)
  })
})

/** Ends a server `in order`, or `by force` while a request hangs. */
async function endingCode(program: TestProcess, how: string): Promise<number | null> {
  if (how === 'by force') await program.requested('GET', '/hang')
  else await program.serving()
  program.signal('SIGTERM')
  if (how === 'by force') {
    await program.said('600 ms after the stop request')
    program.signal('SIGTERM')
  }
  return (await program.ended()).code
}

/**
 * A command that mounts a file over itself, where nobody else sees it, as Kubernetes mounts
 * /dev/termination-log.
 */
const mounted = (path: string) => ['unshare', '-rm', 'sh', '-c', 'mount --bind "$0" "$0" && exec "$@"', path]

test.skipIf(!canMount())('a report is written into a file that no other can be put in the place of', async () => {
  const folder = temporaryFolder()
  const reportFile = join(folder, 'termination-log')
  writeFileSync(reportFile, 'x'.repeat(100_000))
  const program = startServer({ options: { reportFile } }, { via: mounted(reportFile) })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(program.report()).toMatchObject({ exitCode: 0 })
  expect(readdirSync(folder)).toEqual(['termination-log'])
})

/** As a full disk: no file may become longer than 512 bytes, or 1024 by another shell. */
const FULL_DISK = ['sh', '-c', 'ulimit -f 1 && exec "$0" "$@"']

test.skipIf(process.platform === 'win32').each([
  ['in order', 4],
  ['by force', 1],
])('the report of an earlier run is left as it is when there is no room for that of an end %s', async (how, code) => {
  const folder = temporaryFolder()
  const reportFile = join(folder, 'report.json')
  const earlier = '{ "the report": "of an earlier run" }'
  writeFileSync(reportFile, earlier)
  const program = startServer({ options: { reportFile, deadline: '40s' } }, { via: FULL_DISK })
  expect(await endingCode(program, how)).toBe(code)
  expect(readFileSync(reportFile, 'utf8')).toBe(earlier)
  expect(readdirSync(folder)).toEqual(['report.json'])
  expect(complaints(program)).toEqual([expect.stringContaining(`quiesce: the report could not be written to ${reportFile}: EFBIG`)])
})

test.skipIf(process.platform === 'win32')('a report goes where a link leads, and leaves the link alone', async () => {
  const folder = temporaryFolder()
  const [target, reportFile] = [join(folder, 'target.json'), join(folder, 'link.json')]
  symlinkSync(target, reportFile)
  const program = startServer({ options: { reportFile } })
  await program.serving()
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(0)
  expect(lstatSync(reportFile).isSymbolicLink()).toBe(true)
  expect(JSON.parse(readFileSync(target, 'utf8'))).toMatchObject({ exitCode: 0 })
})

test.skipIf(process.platform === 'win32').each([
  ['in order', 0],
  ['by force', 1],
])('a report of an end %s that goes where the log goes stands behind the log', async (how, code) => {
  const logFile = join(temporaryFolder(), 'log')
  const stdout = openSync(logFile, 'w')
  onTestFinished(() => closeSync(stdout))
  const program = startServer({ options: { reportFile: '/dev/stdout', deadline: '40s' } }, { stdout })
  expect(await endingCode(program, how)).toBe(code)
  const [, log = '', report = ''] = /^(.*\n)(\{\n.*)$/s.exec(readFileSync(logFile, 'utf8')) ?? []
  const [first = '', ...lines] = log.trimEnd().split('\n')
  expect(JSON.parse(first)).toMatchObject({ msg: expect.any(String) })
  expect(lines.length).toBeGreaterThan(3)
  expect(JSON.parse(report)).toMatchObject({ exitCode: code })
})

function canMount(): boolean {
  const path = join(mkdtempSync(join(tmpdir(), 'quiesce-')), 'file')
  writeFileSync(path, '')
  const [command = '', ...args] = [...mounted(path), 'true']
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch {
    // Not Linux, or not allowed to whoever runs the tests.
    return false
  } finally {
    rmSync(dirname(path), { recursive: true })
  }
}
