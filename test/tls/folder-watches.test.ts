// Fails when: what is written into another file of the folder makes a file be read again, or what
// may have replaced the file, or is written into it, does not.
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { FolderWatches } from '#src/tls/folder-watches.ts'
import { temporaryFolder } from '../support/process.ts'

async function watching() {
  const folder = temporaryFolder()
  const file = join(folder, 'roles.yaml')
  const log = join(folder, 'audit.log')
  for (const each of [file, log]) writeFileSync(each, '')
  let changes = 0
  const watches = new FolderWatches([file], () => void changes++)
  onTestFinished(() => watches.close())
  expect(await watches.refresh()).toEqual([])
  return { folder, file, log, changes: () => changes }
}

test('a log that grows beside the file changes nothing', async () => {
  const { folder, log, changes } = await watching()
  for (let line = 0; line < 5; line++) appendFileSync(log, 'a line\n')
  // Told after what was written before it.
  mkdirSync(join(folder, '..data'))
  await vi.waitFor(() => expect(changes()).toBeGreaterThan(0))
  expect(changes()).toBe(1)
})

test('what is written into the file is told', async () => {
  const { file, changes } = await watching()
  appendFileSync(file, 'rules: []\n')
  await vi.waitFor(() => expect(changes()).toBeGreaterThan(0))
})
