// What passes a refusing gate as a probe must be a probe for the application as well, however
// that reads a target. Fails when: the gate resolves less than a URL does, takes another part of
// the target for the path, decodes what it compares, or trusts the Host header that Hono's adapter
// puts in front of the target.
import { getRequestListener } from '@hono/node-server'
import fc from 'fast-check'
import { Hono } from 'hono'
import { describe, expect, test } from 'vitest'
import { isExempt } from '#src/http/traffic/exempt.ts'
import { pathOf } from '#src/http/url.ts'
import { RawClient } from '../support/raw-client.ts'
import { seed } from '../support/seed.ts'
import { rig } from './rig.ts'

/** What dots, escapes, slashes of both kinds, and hosts in odd places can be put together from. */
const PIECES = [
  ...['/readyz', '/livez', '/healthz', '/metrics', '/slow', '/', '//', '/..', '/.', '/...', '..', '.', '/etcd', 'x'],
  ...['/%2e%2e', '/%2E.', '/.%2e', '%2e', '%2f', '%2F..', '%5c', '%252e', '%00', '%', '%c0%ae', '/%72eadyz', '/%6detrics'],
  ...['\\', '\\..', '/..\\', '?', '?/readyz', '#', '#/..', ';', '/..;', '@', ':', '&', '=', '~', '*', 'é'],
  ...[
    'http://x',
    'http://x?',
    'http://x#',
    'http://x\\',
    'http:///',
    'https://x:80',
    'http://u@x',
    'http://',
    'ftp://x',
    '//x',
    'HTTP://X',
  ],
]
const HOSTS = ['localhost', '10.0.0.1:8080', '[::1]:80', 'éé/slow?', 'x/slow?', 'x/slow#', 'u@x', 'x\\slow?', '']

const target = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join('')),
  fc.tuple(fc.constantFrom('/readyz', '/metrics/'), fc.array(fc.constantFrom(...PIECES), { maxLength: 4 })).map(([a, b]) => a + b.join('')),
)
const host = fc.oneof({ weight: 4, arbitrary: fc.constant('localhost') }, { weight: 1, arbitrary: fc.constantFrom(...HOSTS) })

const isOfProbes = (path: string): boolean => /^\/(readyz|livez|healthz|metrics)(\/|$)/.test(path)

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/**
 * Every path that an application may come to: as the URL standard has it, with either host, escaped
 * and not, resolved again after that.
 */
function readings(of: string, hostHeader: string): string[] {
  const paths = [pathOf(of)]
  for (const given of [[of, 'http://h'], ...(of.startsWith('/') ? [[`http://${hostHeader || 'h'}${of}`]] : [])] as [string, string?][]) {
    if (!URL.canParse(...given)) continue
    const url = new URL(...given)
    paths.push(url.pathname, decoded(url.pathname), new URL(decoded(url.pathname), 'http://h').pathname)
  }
  return paths
}

describe('what is exempt', () => {
  test('is exempt in every reading', () => {
    let exempt = 0
    fc.assert(
      fc.property(target, host, (url, header) => {
        if (!isExempt({ url, headers: { host: header } })) return
        exempt++
        expect(readings(url, header).filter((path) => !isOfProbes(path))).toEqual([])
      }),
      { numRuns: 20_000 },
    )
    // The property says nothing of a gate that lets nothing through.
    expect(exempt, `seed ${seed}`).toBeGreaterThan(500)
  })

  test.each([
    ...['/readyz', '/readyz/', '/livez?verbose', '/metrics/slis', '/healthz/etcd-0/a_b~c', '/readyz?a=/../b', '/metrics?q=%2e%2e\\'],
    ...['http://10.0.0.1:8080/readyz', 'https://example.org/metrics?name=up'],
  ])('%s is', (url) => {
    expect([isExempt({ url, headers: { host: '10.0.0.1:8080' } }), isExempt({ url, headers: {} })]).toEqual([true, true])
  })

  test.each([
    ...[
      '/readyz/../slow',
      '/metrics/../slow',
      '/readyz/%2e%2e/slow',
      '/livez/./../slow',
      '/readyz/..',
      '/readyz/.%2E/slow',
      '/metrics/%2fslow',
    ],
    ...['/readyz\\..\\slow', '/readyz/..\\slow', '/readyz#/../slow', '/%72eadyz/../slow', '/readyz/é', '/readyz/..;/slow', '/READYZ'],
    ...[
      'http://x/readyz/../slow',
      'http://x?/readyz/',
      'http://x#/readyz',
      'http://x\\/readyz',
      'http:///readyz/slow',
      'http://u@x/readyz',
    ],
  ])('%s is not', (url) => {
    expect(isExempt({ url, headers: { host: 'localhost' } })).toBe(false)
  })

  test('is not what the Host header could turn into something else', () => {
    for (const header of ['éé/slow?', 'x/slow?', 'x#', 'u@x', 'x\\slow?']) {
      expect(isExempt({ url: '/readyz', headers: { host: header } }), header).toBe(false)
    }
  })
})

test('behind Hono’s adapter nothing but probes passes a gate that refuses', async () => {
  const seen: string[] = []
  const app = new Hono()
  app.all('*', (c) => {
    seen.push(c.req.path)
    return c.text('served')
  })
  const { traffic, port } = await rig(getRequestListener(app.fetch), { mode: 'retry-after' })
  traffic.initiateShutdown()
  traffic.stopAccepting()
  await fc.assert(
    fc.asyncProperty(target, host, async (url, header) => {
      const client = await RawClient.open({ port })
      client.send(Buffer.from(`GET ${url} HTTP/1.1\r\nHost: ${header}\r\nConnection: close\r\n\r\n`, 'latin1'))
      expect(await client.closed()).toBe('ended')
      client.abort()
    }),
    // The first of these hosts is as long as the name that it is turned into, which is all that the
    // adapter compares.
    { numRuns: 400, examples: HOSTS.map((header): [string, string] => ['/readyz', header]) },
  )
  expect(seen.filter((path) => !isOfProbes(path))).toEqual([])
  expect(seen.length, `seed ${seed}`).toBeGreaterThan(5)
})
