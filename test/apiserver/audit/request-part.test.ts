// Fails when: an event has a target, an address or a program in another form than upstream writes.
import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { requestPart } from '#apiserver/audit/event.ts'
import { requestUriOf } from '#apiserver/audit/request-uri.ts'
import type { ApiExchange } from '#apiserver/index.ts'
import { requestInfo } from '#apiserver/request/request-info.ts'

// As the real server has recorded them.
test.each([
  ['/echo?a=b&c=%20d', '/echo?a=b&c=%20d'],
  ['/echo?', '/echo?'],
  ['//echo?x', '//echo?x'],
  ['*', '*'],
  ['http://host/echo?x', '/echo?x'],
  ['http://user:pw@host/echo', '/echo'],
  ['http://host', '/'],
  ['/echo#f', '/echo%23f'],
  ['/echo?x#f', '/echo?x#f'],
  ['/echo"', '/echo%22'],
  ['/a{b}', '/a%7Bb%7D'],
  ['/a\\b', '/a%5Cb'],
  ['/a%2Fb', '/a%2Fb'],
  ['/a%7Eb~c', '/a%7Eb~c'],
  ['/a%c3%bc|', '/a%C3%BC%7C'],
  ["/a!b'(c)*[d]", "/a!b'(c)*[d]"],
])('the target %s is recorded as %s', (target, recorded) => {
  expect(requestUriOf(target)).toBe(recorded)
})

function partOf(...raw: readonly string[]) {
  const headers: Record<string, string> = {}
  for (let at = 0; at < raw.length; at += 2) {
    const name = String(raw[at]).toLowerCase()
    headers[name] = headers[name] === undefined ? String(raw[at + 1]) : `${headers[name]}, ${raw[at + 1]}`
  }
  const request = { url: '/', headers, rawHeaders: raw, socket: { remoteAddress: '::ffff:127.0.0.1' } } as unknown as IncomingMessage
  return requestPart({ request, info: requestInfo('GET', '/') } as ApiExchange)
}

test.each<[readonly string[], readonly string[]]>([
  [[], []],
  [
    ['X-Forwarded-For', '1.2.3.4, 5.6.7.8'],
    ['1.2.3.4', '5.6.7.8'],
  ],
  [['X-Forwarded-For', '1.2.3.4', 'x-forwarded-for', '5.6.7.8'], ['1.2.3.4']],
  [['X-Forwarded-For', 'garbage,, 1.2.3.4:80, 1.2.3.4'], ['1.2.3.4']],
  [['X-Forwarded-For', '2001:DB8::0:1'], ['2001:db8::1']],
  [['X-Forwarded-For', '1:2:3:4:5:6:7::'], ['1:2:3:4:5:6:7:0']],
  [['X-Forwarded-For', '::ffff:0102:0304'], ['1.2.3.4']],
  [['X-Forwarded-For', '64:ff9b::1.2.3.4'], ['64:ff9b::102:304']],
  [['X-Forwarded-For', 'fe80::1%eth0'], []],
  [['X-Forwarded-For', '01.2.3.4, 1.2.3.256'], ['1.2.3.4']],
  [
    ['X-Forwarded-For', '1.2.3.4', 'X-Real-Ip', '5.6.7.8', 'X-Real-Ip', '9.9.9.9'],
    ['1.2.3.4', '5.6.7.8'],
  ],
  [['X-Forwarded-For', '1.2.3.4', 'X-Real-Ip', '1.2.3.4'], ['1.2.3.4']],
])('the addresses of %j', (raw, addresses) => {
  expect(partOf(...raw).sourceIPs).toEqual([...addresses, '127.0.0.1'])
})

test('an event has the target in that form', () => {
  const request = { url: 'http://host/a"?b', headers: {}, rawHeaders: [], socket: {} } as unknown as IncomingMessage
  expect(requestPart({ request, info: requestInfo('GET', '/') } as ApiExchange).requestURI).toBe('/a%22?b')
})

test('the program is UTF-8, cut by its bytes', () => {
  const bytes = (text: string): string => Buffer.from(text).toString('latin1')
  expect(partOf('User-Agent', bytes('ü')).userAgent).toBe('ü')
  expect(partOf('User-Agent', bytes('ü'.repeat(600))).userAgent).toBe(`${'ü'.repeat(512)}...TRUNCATED`)
})
