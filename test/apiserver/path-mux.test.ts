import { describe, expect, test } from 'vitest'
import type { ApiHandler, ApiServer } from '#apiserver/index.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'

const says =
  (text: string): ApiHandler =>
  (_request, response) =>
    response.end(text)

/** A server to which paths are given while it serves. */
async function serve(): Promise<{
  readonly server: ApiServer
  readonly lines: ServedApi['lines']
  says(path: string): Promise<string>
  listed(): Promise<readonly string[]>
}> {
  let server: ApiServer | undefined
  const served = await serveApi({
    setUp: (given) => {
      server = given
    },
  })
  return {
    server: server as ApiServer,
    lines: served.lines,
    says: async (path) => (await served.ask(path)).text(),
    listed: async () => ((await (await served.ask('/')).json()) as { readonly paths: readonly string[] }).paths,
  }
}

const NOT_FOUND = '404 page not found\n'

describe('the paths of an API server', () => {
  row('MU-01', 'lists those that are to be listed', async () => {
    const { server, listed, says: ask } = await serve()
    server.handle('/secret', says('secret'), { listed: false })
    server.handle('/other', says('other'))
    expect((await listed()).filter((path) => ['/secret', '/other'].includes(path))).toEqual(['/other'])
    expect(await ask('/secret')).toBe('secret')
  })

  row(['MU-02', 'MU-03'], 'one that was taken away is not found, and may be given again', async () => {
    const { server, listed, says: ask } = await serve()
    server.handle('/a', says('first'))
    expect(await ask('/a')).toBe('first')
    server.unregister('/a')
    expect([await ask('/a'), (await listed()).includes('/a')]).toEqual([NOT_FOUND, false])
    server.handle('/a', says('second'))
    expect([await ask('/a'), (await listed()).includes('/a')]).toEqual(['second', true])
  })

  row(['MU-04', 'MU-05', 'MU-06', 'MU-07', 'MU-08'], 'goes by the exact path, then by the longest prefix', async () => {
    const { server, says: ask } = await serve()
    server.handlePrefix('/p/', says('p'))
    server.handlePrefix('/p/q/', says('q'))
    server.handle('/p/e', says('exact'))
    server.handle('/o/e/', says('slash'))
    const answers = Object.fromEntries(
      await Promise.all(
        ['/p', '/p/', '/p/x', '/p/q', '/p/q/', '/p/q/r', '/p/e', '/p/e/', '/o/e', '/o/e/', '/p/q?/'].map(async (path) => [
          path,
          await ask(path),
        ]),
      ),
    )
    expect(answers).toEqual({
      '/p': NOT_FOUND,
      '/p/': 'p',
      '/p/x': 'p',
      '/p/q': 'p',
      '/p/q/': 'q',
      '/p/q/r': 'q',
      '/p/e': 'exact',
      '/p/e/': 'p',
      '/o/e': NOT_FOUND,
      '/o/e/': 'slash',
      '/p/q?/': 'p',
    })
  })

  row('MU-09', 'serves what is below an unlisted prefix', async () => {
    const { server, listed, says: ask } = await serve()
    server.handlePrefix('/s/', says('s'), { listed: false })
    expect([await ask('/s/x'), (await listed()).includes('/s/')]).toEqual(['s', false])
  })

  row('MU-10', 'the later of two handlers serves, and the log says where the first is from', async () => {
    const { server, lines, says: ask } = await serve()
    server.handle('/twice', says('first'))
    server.handle('/twice', says('second'))
    expect(await ask('/twice')).toBe('second')
    const warned = lines.filter(({ message }) => message.includes('duplicate path registration of "/twice"'))
    expect(warned.map(({ level }) => level)).toEqual(['warn'])
    expect(JSON.stringify(warned)).toContain('path-mux.test.ts')
  })

  row('MU-11', 'a prefix ends in a slash', async () => {
    const { server } = await serve()
    const error = expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining('must end in a trailing slash') })
    expect(() => server.handlePrefix('/p', says('p'))).toThrow(error)
  })

  test('begins with a slash, and has a function', async () => {
    const { server } = await serve()
    for (const wrong of [() => server.handle('a', says('a')), () => server.handle('/a', undefined as unknown as ApiHandler)])
      expect(wrong).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  })
})
