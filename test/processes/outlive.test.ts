import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startSpeaking, temporaryFolder } from '../support/process.ts'

/**
 * Work whose client has left, in a process that is told to end: judged by what stands in a file
 * afterwards, and in which order.
 */

async function orderWithoutClient(kind: string, plan: { readonly ms: number; readonly options: object }) {
  const file = join(temporaryFolder(), 'log')
  const program = startSpeaking('outlive.mjs', [JSON.stringify({ kind, file, ...plan })])
  const client = await program.connect()
  client.request('POST', '/order')
  await program.said('arrived')
  client.abort()
  await program.said('gone')
  program.signal('SIGTERM')
  const { code } = await program.ended()
  return { code, written: readFileSync(file, 'utf8'), report: program.report() }
}

describe('an order whose client has left', () => {
  test.each(['callback', 'express', 'fastify'])('is written before the pool is destroyed: %s', async (kind) => {
    const { code, written, report } = await orderWithoutClient(kind, { ms: 500, options: { deadline: '40s' } })
    expect(written).toBe('order written\npool destroyed\n')
    expect(code).toBe(0)
    expect(report).toMatchObject({ handlers: [], warnings: [], requests: { cut: [] } })
  })

  test('and that is not done in time is named, and costs no exit code: it may have been over', async () => {
    const { code, written, report } = await orderWithoutClient('polling', { ms: 0, options: { deadline: '1s' } })
    expect(written).toBe('pool destroyed\n')
    expect(code).toBe(0)
    expect(report).toMatchObject({
      handlers: [{ name: 'POST /order' }],
      warnings: [
        { message: 'handlers whose clients had left ended no response in time', details: { handlers: 1, oldest: ['POST /order'] } },
      ],
    })
    expect(report.phases.find(({ name }) => name === 'handlers')).toMatchObject({ outcome: 'cut', cut: [{ name: 'POST /order' }] })
  })
})
