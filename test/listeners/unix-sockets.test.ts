// Fails when: a socket that a killed process has left keeps a server from starting, one that is in
// use (or no socket at all) is taken away, its permissions are others than asked for at any moment,
// or the file stays after the end.
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, watch, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { newLife } from '../support/life.ts'
import { startServer, temporaryFolder } from '../support/process.ts'

const newPath = (): string => join(temporaryFolder(), 'app.sock')

const ask = (socketPath: string): Promise<string> =>
  new Promise((resolve, reject) => {
    request({ socketPath, path: '/', agent: false }, (response) => void text(response).then(resolve, reject))
      .on('error', reject)
      .end()
  })

const permissions = (path: string): number => statSync(path).mode & 0o777

describe('a Unix socket', () => {
  test('is served, has the permissions from its first moment on, and is gone after the end', async () => {
    const path = newPath()
    const seen = new Set<number>()
    const watcher = watch(join(path, '..'), () => {
      if (existsSync(path)) seen.add(permissions(path))
    })
    onTestFinished(() => watcher.close())
    const mask = process.umask()
    const rig = newLife({ options: { listeners: [{ path, mode: 0o620 }] } })
    await rig.life.start()
    expect(await ask(path)).toBe('hello')
    expect(permissions(path)).toBe(0o620)
    expect(rig.life.addresses).toEqual([{ url: `unix:${path}`, address: path, port: 0 }])
    expect(process.umask()).toBe(mask)
    const report = await rig.end()
    expect(existsSync(path)).toBe(false)
    expect(report.listeners).toEqual([expect.objectContaining({ url: `unix:${path}` })])
    expect([...seen]).toEqual([0o620])
  })

  test('that a killed process has left is removed', async () => {
    const path = newPath()
    const killed = startServer({ options: { listeners: [{ path }] } })
    await killed.said('fired PostStartHooksLaunched')
    killed.signal('SIGKILL')
    await killed.ended()
    expect(existsSync(path)).toBe(true)
    const rig = newLife({ options: { listeners: [{ path }] } })
    await rig.life.start()
    expect(await ask(path)).toBe('hello')
  })

  test('that another process accepts on is left to it', async () => {
    const path = newPath()
    const other = createServer((_, response) => void response.end('other'))
    other.listen(path)
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const rig = newLife({ options: { listeners: [{ path }] } })
    await expect(rig.life.start()).rejects.toMatchObject({
      cause: {
        code: 'ERR_LISTEN',
        message: `failed to create listener: failed to listen on ${path}: another process accepts connections there`,
      },
    })
    await rig.life.ended
    expect(await ask(path)).toBe('other')
  })

  test('takes the place of no file', async () => {
    const path = newPath()
    writeFileSync(path, 'precious')
    const rig = newLife({ options: { listeners: [{ path }] } })
    await expect(rig.life.start()).rejects.toMatchObject({ cause: { message: expect.stringMatching(/: what is there is no socket$/) } })
    await rig.life.ended
    expect(readFileSync(path, 'utf8')).toBe('precious')
  })
})

test.each([
  ['listeners[0].mode: got 4096', { path: '/run/app.sock', mode: 0o10000 }],
  ['listeners[0].mode: got "0660"', { path: '/run/app.sock', mode: '0660' as never }],
])('%s is refused', (message, listener) => {
  expect(() => newLife({ options: { listeners: [listener] } })).toThrow(`${message}, allowed: permissions from 0 to 0o777`)
})
