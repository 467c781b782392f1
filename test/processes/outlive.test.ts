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
        {
          message: 'handlers did not end their responses in time after their clients had left',
          details: { handlers: 1, oldest: ['POST /order'] },
        },
      ],
    })
    expect(report.phases.find(({ name }) => name === 'handlers')).toMatchObject({ outcome: 'cut', cut: [{ name: 'POST /order' }] })
  })
})

async function orderThatGoesOn(kind: string, plan: { readonly ms: number; readonly options?: object }) {
  const file = join(temporaryFolder(), 'log')
  const program = startSpeaking('goes-on.mjs', [JSON.stringify({ kind, file, ...plan })])
  const client = await program.connect()
  client.request('POST', '/order', { headers: { 'Content-Length': '0' } })
  expect((await client.response()).body).toBe('accepted')
  program.signal('SIGTERM')
  const { code } = await program.ended()
  return { code, written: readFileSync(file, 'utf8'), report: program.report(), stderr: program.stderr }
}

describe('an order that goes on after its answer', () => {
  test.each(['express, told', 'fastify'])('is written before the pool is destroyed: %s', async (kind) => {
    const { code, written, report } = await orderThatGoesOn(kind, { ms: 1_500 })
    expect(written).toBe('order written\npool destroyed\n')
    expect(code).toBe(0)
    expect(report).toMatchObject({ handlers: [], warnings: [], errors: [] })
  })

  test.each(['unseen', 'express'])('and that nothing can see is cut, which costs exit code 5: %s', async (kind) => {
    const { code, written, report, stderr } = await orderThatGoesOn(kind, { ms: 60_000 })
    expect(written).toBe('pool destroyed\n')
    expect(code).toBe(5)
    expect(report).toMatchObject({
      exitCode: 5,
      handlers: [{ name: 'work outside of requests (1 Timeout)' }],
      warnings: [{ message: expect.stringContaining('give its promise to waitUntil(request, promise) or hold()') }],
    })
    expect(stderr).toContain('exit code 5: something was cut before it was done, or lost: work outside of requests (1 Timeout)')
  })

  test.each<[string, object]>([
    ['an interval from before it served', {}],
    ['and a process that ends by itself', { exit: 'natural' }],
  ])('is not seen in %s', async (_, options) => {
    const isNatural = 'exit' in options
    const { code, report } = await orderThatGoesOn(isNatural ? 'unseen' : 'interval', { ms: 1_000, options })
    expect(code).toBe(0)
    expect(report).toMatchObject({ exitCode: 0, handlers: [], warnings: [] })
  })
})
