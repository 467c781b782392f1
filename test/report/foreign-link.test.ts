// Files that others could have a hand in. Fails when: a report is written through a name that can
// be known before, or a file of the product is written through a link of another user; or a link of
// one's own is not followed.
import { lchownSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fileWriter } from '#apiserver/audit/file-writer.ts'
import type { Report } from '#src/index.ts'
import { JournalFile } from '#src/inspector/journal-file.ts'
import { checkReportFile, writeReport, writeReportNow } from '#src/report/report-file.ts'

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
