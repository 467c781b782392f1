// Files that others could have a hand in. Fails when: a report is written through a name that can
// be known before, or a file of the product is written through a link of another user; or a link of
// one's own is not followed; or a link takes the place of what was there at a look before, and is
// followed.
import {
  closeSync,
  constants,
  existsSync,
  lchownSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { fileWriter } from '#apiserver/audit/file-writer.ts'
import type { Report } from '#src/index.ts'
import { JournalFile } from '#src/inspector/journal-file.ts'
import { openFile } from '#src/report/open-file.ts'
import { checkReportFile, writeReport, writeReportNow } from '#src/report/report-file.ts'

/** What another user does behind a look of ours, or before our opening; of these paths. */
const swap = vi.hoisted(() => ({
  path: '',
  afterLook: undefined as (() => void) | undefined,
  beforeOpen: undefined as (() => void) | undefined,
}))

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:fs')>()
  const once = (moment: 'afterLook' | 'beforeOpen', path: unknown): void => {
    const act = path === swap.path ? swap[moment] : undefined
    if (!act) return
    swap[moment] = undefined
    act()
  }
  return {
    ...real,
    lstatSync: ((path: string, options: never) => {
      const found = real.lstatSync(path, options)
      once('afterLook', path)
      return found
    }) as typeof real.lstatSync,
    openSync: ((path: string, flags: never, mode: never) => {
      once('beforeOpen', path)
      return real.openSync(path, flags, mode)
    }) as typeof real.openSync,
  }
})

const report = { exitCode: 0 } as unknown as Report

/** A folder with a file in it that must stay as it is, and a link to that. */
function trap(link: string) {
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-link-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const victim = join(folder, 'victim')
  writeFileSync(victim, 'precious')
  const path = join(folder, link)
  symlinkSync(victim, path)
  return { folder, victim, path, victimSays: () => readFileSync(victim, 'utf8') }
}

const journal = { after: () => [{ n: 1, text: 'entry' }] } as never

const WRITERS: Readonly<Record<string, (path: string) => unknown>> = {
  'the report': (path) => writeReport(path, report, new AbortController().signal),
  'the report, where it is checked': checkReportFile,
  'the journal': (path) => new JournalFile(path, journal, () => {}),
  'the audit log': (path) => fileWriter(path).open?.(),
}

test.skipIf(process.getuid?.() !== 0).each(Object.entries(WRITERS))(
  '%s is not written through a link of another user',
  async (_, write) => {
    const { path, victimSays } = trap('mine')
    lchownSync(path, 4711, 4711)
    await expect(async () => write(path)).rejects.toThrow('it is a link of another user (4711), which is not followed')
    expect(victimSays()).toBe('precious')
  },
)

test.each(['journal', 'audit log'])('a link of one’s own is followed: the %s', (name) => {
  const { path, victimSays } = trap('mine')
  const file = name === 'journal' ? new JournalFile(path, journal, () => {}) : fileWriter(path)
  if (file instanceof JournalFile) file.flushNow()
  else {
    void file.open?.()
    void file.write('entry\n')
  }
  expect(victimSays()).toContain('entry')
})

test.each(['in time', 'at the last moment'])('a report, %s, is written under no name that can be known before', async (when) => {
  const { folder, path } = trap('report.json')
  rmSync(path)
  const other = trap(`report.json.${process.pid}.tmp`)
  const names = new Set<string>()
  for (let run = 0; run < 2; run++) {
    const target = join(other.folder, 'report.json')
    symlinkSync(other.victim, `${target}.${process.pid}.last.tmp`)
    if (when === 'in time') await writeReport(target, report, new AbortController().signal)
    else writeReportNow(target, report)
    expect(JSON.parse(readFileSync(target, 'utf8'))).toEqual({ exitCode: 0 })
    expect(other.victimSays()).toBe('precious')
    rmSync(`${target}.${process.pid}.last.tmp`)
    for (const name of readdirSync(other.folder)) names.add(name)
  }
  expect([...names].toSorted()).toEqual(['report.json', `report.json.${process.pid}.tmp`, 'victim'])
  expect(readdirSync(folder)).toEqual(['victim'])
})

const IN_PLACE: Readonly<Record<string, (path: string) => unknown>> = {
  'the report': (path) => writeReport(path, report, new AbortController().signal),
  'the report at the last moment': (path) => writeReportNow(path, report),
  'the journal': (path) => new JournalFile(path, journal, () => {}),
  'the audit log': (path) => fileWriter(path).open?.(),
}
const theirs = (path: string, victim: string) => (): void => {
  rmSync(path)
  symlinkSync(victim, path)
  lchownSync(path, 4711, 4711)
}

describe.skipIf(process.getuid?.() !== 0)('when another user puts a link there in between', () => {
  afterEach(() => Object.assign(swap, { path: '', afterLook: undefined, beforeOpen: undefined }))

  test.each(Object.entries(IN_PLACE))('%s is not written through it, whether it replaces a link or a file', async (_, write) => {
    for (const moment of ['afterLook', 'beforeOpen'] as const)
      for (const first of ['link', 'file'] as const) {
        const { folder, path, victim, victimSays } = trap('mine')
        const own = join(folder, 'own')
        writeFileSync(own, '')
        rmSync(path)
        if (first === 'link') symlinkSync(own, path)
        else writeFileSync(path, '')
        Object.assign(swap, { path, [moment]: theirs(path, victim) })
        await Promise.resolve(new Promise((resolve) => resolve(write(path)))).catch(() => {})
        expect(victimSays(), `${moment}, ${first}`).toBe('precious')
      }
  })
})

test.skipIf(!existsSync('/proc/self/fd'))('what the kernel shows as a link, such as /dev/stdout, is opened', () => {
  const { victim } = trap('mine')
  const open = openSync(victim, 'r')
  onTestFinished(() => closeSync(open))
  closeSync(openFile(`/proc/self/fd/${open}`, constants.O_WRONLY))
  closeSync(openFile(`/dev/fd/${open}`, constants.O_WRONLY))
})

test('links that lead to each other are no endless search', () => {
  const { folder, path } = trap('a')
  rmSync(path)
  symlinkSync(join(folder, 'b'), path)
  symlinkSync(path, join(folder, 'b'))
  expect(() => openFile(path, constants.O_WRONLY)).toThrow('it leads through too many links')
})
