import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** Longest time of one command. */
export const COMMAND_MS = 30_000

/** Of the machine; another one where it is named. */
const KUBECTL = process.env['KUBECTL'] ?? 'kubectl'

export interface Running {
  /** What it has said so far. */
  readonly text: () => string
  readonly ended: Promise<{ readonly code: number | null; readonly text: string }>
}

/** The real kubectl, without a configuration of its user's, for the tests of one file. */
export function useKubectl() {
  const client = spawnSync(KUBECTL, ['version', '--client', '--output=json'], { timeout: COMMAND_MS, encoding: 'utf8' })
  const isThere = client.status === 0
  const minor = isThere ? Number.parseInt((JSON.parse(client.stdout) as { clientVersion: { minor: string } }).clientVersion.minor, 10) : 0
  const folder = mkdtempSync(join(tmpdir(), 'quiesce-kubectl-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'config'), '')
  return {
    isThere,
    /** 20 is that of Debian 12. */
    minor,
    folder,
    run: (port: number, ...args: readonly string[]): Running => {
      const all = ['--server', `http://127.0.0.1:${port}`, '--cache-dir', join(folder, 'cache'), ...args]
      const child = spawn(KUBECTL, all, { env: { ...process.env, KUBECONFIG: join(folder, 'config') }, timeout: COMMAND_MS })
      let text = ''
      const hear = (chunk: Buffer): void => {
        text += chunk.toString()
      }
      for (const stream of [child.stdout, child.stderr]) stream.on('data', hear)
      return { text: () => text, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, text }))) }
    },
  }
}
