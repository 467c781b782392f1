// What is done at the path of a Unix socket before a process listens there. Fails when: what is not
// left behind is removed, what is left behind stays, the process that is asked whether it accepts
// keeps a connection, or a socket has other permissions than asked for at any moment.
import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, readdirSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { inodeOf, removeStale, removeStaleInWorker, takeAway, withMode } from '#src/actors/unix-socket.ts'
import { leftBehind } from '../support/left-behind.ts'
import { temporaryFolder } from '../support/process.ts'

const newPath = (): string => join(temporaryFolder(), 'app.sock')

async function listening(path: string): Promise<Server> {
  const server = createServer().listen(path)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return server
}

describe('making way at a path', () => {
  test('needs nothing where there is nothing', async () => {
    expect(await removeStale(newPath())).toBeUndefined()
  })

  test('removes what was left behind', async () => {
    const path = await leftBehind()
    expect(await removeStale(path)).toBeUndefined()
    expect(existsSync(path)).toBe(false)
  })

  test('leaves the one who accepts there alone, and the connection by which that was found out is closed', async () => {
    const path = newPath()
    const server = await listening(path)
    expect(await removeStale(path)).toBe('another process accepts connections there')
    await expect.poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0)
    expect(existsSync(path)).toBe(true)
  })

  test('leaves alone what another process has put there meanwhile', async () => {
    const path = await leftBehind()
    const removed = removeStale(path)
    rmSync(path)
    await listening(path)
    expect(await removed).toBeUndefined()
    expect(existsSync(path)).toBe(true)
  })

  test('puts back what another process has put there between the last look and the removal', async () => {
    const path = await leftBehind()
    const found = inodeOf(path)
    if (found === undefined) throw new Error(`${path} is not there`)
    rmSync(path)
    const server = await listening(path)
    await takeAway(path, found)
    expect(readdirSync(dirname(path))).toEqual([basename(path)])
    const accepted = once(server, 'connection')
    connect(path).end()
    await accepted
    await takeAway(path, inodeOf(path) ?? found)
    expect(readdirSync(dirname(path))).toEqual([])
    await takeAway(path, found)
  })

  test('leaves alone what is there under the same number, and has changed meanwhile', async () => {
    const path = await leftBehind()
    const changed = () => lstatSync(path, { bigint: true }).ctimeNs
    const before = changed()
    const removed = removeStale(path)
    // Clocks of file systems have steps.
    while (changed() === before) chmodSync(path, 0o600)
    expect(await removed).toBeUndefined()
    expect(existsSync(path)).toBe(true)
  })

  test('before it was asked for is for workers of a cluster', async () => {
    const path = await leftBehind()
    await removeStaleInWorker(path)
    expect(existsSync(path)).toBe(true)
  })
})

test('a socket has its permissions as soon as it is there, and the process has its mask back', async () => {
  const path = newPath()
  const server = createServer()
  onTestFinished(() => void server.close())
  const mask = process.umask()
  const listens = withMode(path, 0o620, () => void server.listen(path))
  expect(statSync(path).mode & 0o777).toBe(0o620)
  expect(process.umask()).toBe(mask)
  await once(server, 'listening')
  listens()
  expect(statSync(path).mode & 0o777).toBe(0o620)
})
