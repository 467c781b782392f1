// Fails when: a request that a client has had an answer to is not in the audit log, or not with
// both of its events, over the end of a real process; or when what is lost is not in the report.
import { readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AuditEvent } from '#apiserver/audit/event.ts'
import { startProgram, temporaryFolder } from '../support/process.ts'
import { row } from '../support/row.ts'

const agent = new http.Agent({ keepAlive: true })

/** The id under which a request was answered; undefined when it was not. */
function ask(port: number, path = '/slow'): Promise<string | undefined> {
  return new Promise((resolve) => {
    const request = http.get({ port, host: '127.0.0.1', path, agent }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode === 200 ? String(response.headers['audit-id']) : undefined))
    })
    request.once('error', () => resolve(undefined))
  })
}

/** Clients that ask one after the other, until nothing is answered any more. */
async function load(
  port: number,
  clients: number,
  { path = '/slow', warmAfter = 3 * clients }: { readonly path?: string; readonly warmAfter?: number } = {},
): Promise<{ readonly answered: string[]; readonly ended: Promise<unknown> }> {
  const answered: string[] = []
  let warm = (): void => {}
  const isWarm = new Promise<void>((resolve) => {
    warm = resolve
  })
  const client = async (): Promise<void> => {
    for (let id = await ask(port, path); id !== undefined; id = await ask(port, path)) {
      answered.push(id)
      if (answered.length >= warmAfter) warm()
    }
  }
  const ended = Promise.all(Array.from({ length: clients }, client))
  await isWarm
  return { answered, ended }
}

/** What is in the files of a log, as `ID STAGE`; a torn line fails the test. */
const inFiles = (folder: string): ReadonlySet<string> =>
  new Set(
    readdirSync(folder)
      .filter((name) => name.startsWith('audit'))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1))
      .map((line) => JSON.parse(line) as AuditEvent)
      .map(({ auditID, stage }) => `${auditID} ${stage}`),
  )

const BATCHES = { mode: 'batch', maxBatchSize: 50, maxBatchWait: '30s' }

row(
  ['AU-11', 'GT-12', 'GT-15'],
  'what a client was answered is in the audit log and at the webhook when the process has ended',
  async () => {
    const folder = temporaryFolder()
    const [log, reportFile] = [join(folder, 'audit.log'), join(folder, 'report.json')]
    const options = {
      platform: 'unknown',
      shutdownDelay: '300ms',
      reportFile,
      auditLog: { path: log, maxSize: 0, ...BATCHES },
      hook: 'slow',
      auditWebhook: BATCHES,
    }
    const program = startProgram('audited.mjs', options, {}, reportFile)
    const { answered, ended } = await load(await program.serving(), 10)
    program.signal('SIGTERM')
    await ended
    expect((await program.ended()).code).toBe(0)

    const lines = readFileSync(log, 'utf8').split('\n').slice(0, -1)
    const inLog = lines.map((line) => JSON.parse(line) as AuditEvent).map(({ auditID, stage }) => `${auditID} ${stage}`)
    const posted = program.lines.filter((line) => line.startsWith('posted ')).map((line) => line.slice('posted '.length))
    const expected = answered.flatMap((id) => [`${id} RequestReceived`, `${id} ResponseComplete`])
    expect(expected.length).toBeGreaterThan(50)
    for (const stored of [inLog, posted]) {
      expect(expected.filter((each) => !stored.includes(each))).toEqual([])
      expect(new Set(stored).size).toBe(stored.length)
    }
    expect(program.report().audit).toEqual({ delivered: inLog.length + posted.length, lost: 0 })
  },
)

row('AU-07', 'what could not be delivered by the end is counted in the report', async () => {
  const folder = temporaryFolder()
  const reportFile = join(folder, 'report.json')
  const options = { platform: 'unknown', shutdownDelay: 0, deadline: '3s', reportFile, hook: 'hangs', auditWebhook: BATCHES }
  const program = startProgram('audited.mjs', options, {}, reportFile)
  const port = await program.serving()
  const ids = await Promise.all(Array.from({ length: 5 }, () => ask(port)))
  expect(ids.every((id) => id !== undefined)).toBe(true)
  program.signal('SIGTERM')
  expect((await program.ended()).code).toBe(5)
  const { audit, warnings } = program.report()
  expect(audit).toEqual({ delivered: 0, lost: 10 })
  expect(warnings).toContainEqual({ message: 'audit events were lost', details: { code: 'WARN_AUDIT_LOST', events: 10 } })
  expect(program.lines).toContain('quiesce: 10 audit events were lost [WARN_AUDIT_LOST]')
})

test.each(['blocking', 'blocking-strict'])(
  'a process that is killed has stored what it has answered, in the mode %s, over full files',
  async (mode) => {
    const folder = temporaryFolder()
    const options = {
      platform: 'unknown',
      auditLog: { path: join(folder, 'audit.log'), mode, maxSize: 1 },
      auditPolicy: { rules: [{ level: 'Metadata', omitStages: ['RequestReceived'] }] },
    }
    const program = startProgram('audited.mjs', options)
    const path = `/quick?${'x'.repeat(4_000)}`
    const { answered, ended } = await load(await program.serving(), 16, { path, warmAfter: 300 + (process.pid % 100) })
    program.signal('SIGKILL')
    await ended
    await program.ended()
    const stored = inFiles(folder)
    expect(answered.filter((id) => !stored.has(`${id} ResponseComplete`))).toEqual([])
    expect(readdirSync(folder).length).toBeGreaterThan(1)
  },
)
