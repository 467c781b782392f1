// Fails when a watch would be drained, or cut, as a plain request is, or the other way round. The rows go through real
// sockets: node's parser decides what a header, an upgrade and a request target are.
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLongRunning, type LongRunningExtra, longRunningRule } from '../../src/http/long-running.ts'
import { requestInfo } from '../../src/http/request-info.ts'
import { row } from '../support/row.ts'

/** What the server thinks of the request it got last, asked with `extra`. */
let extra: LongRunningExtra<IncomingMessage> = {}
const server = createServer((request, response) => void response.end(String(isLongRunning(request, extra))))
const upgrading = createServer()
upgrading.on('upgrade', (request, socket) => socket.end(String(isLongRunning(request))))

beforeAll(async () => {
  for (const one of [server, upgrading]) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  for (const one of [server, upgrading]) one.close()
})

const portOf = (one: typeof server) => (one.address() as AddressInfo).port

async function ask(path: string, { method = 'GET', headers = {} }: RequestInit = {}, asked: LongRunningExtra<IncomingMessage> = {}) {
  extra = asked
  const response = await fetch(`http://127.0.0.1:${portOf(server)}${path}`, { method, headers })
  return (await response.text()) === 'true'
}

const proxying = { rule: longRunningRule({ verbs: ['watch'], subresources: ['proxy'] }) }

describe('upstream rule', () => {
  row('LR-01', 'a list is a watch when the parameter is there and does not deny it', async () => {
    for (const value of ['watch=true', 'watch=1', 'watch', 'watch=', 'limit=5&watch=yes']) {
      expect(await ask(`/api/v1/namespaces/n/pods?${value}`), value).toBe(true)
    }
    for (const value of ['watch=0', 'watch=false', 'watch=FALSE', '', 'unwatched=1']) {
      expect(await ask(`/api/v1/namespaces/n/pods?${value}`), value).toBe(false)
    }
    expect(await ask('/apis/apps/v1/deployments?%77atch=1'), 'escaped').toBe(true)
  })

  row('LR-02', 'the old path form is a watch', async () => {
    expect(await ask('/api/v1/watch/namespaces/n/pods')).toBe(true)
    expect(await ask('/apis/apps/v1/watch/deployments')).toBe(true)
  })

  row('LR-03', 'a configured subresource is long-running', async () => {
    expect(await ask('/api/v1/namespaces/n/pods/p/proxy', {}, proxying)).toBe(true)
    expect(await ask('/api/v1/namespaces/n/pods/p/status', {}, proxying)).toBe(false)
    expect(await ask('/api/v1/namespaces/n/pods/p/proxy'), 'not by default').toBe(false)
  })

  row('LR-04', 'a path that only ends like one is not', async () => {
    expect(await ask('/some/where/proxy', {}, proxying)).toBe(false)
    expect(await ask('/proxy', {}, proxying)).toBe(false)
    expect(await ask('/some/where/watch?watch=1', {}, proxying)).toBe(false)
    expect(proxying.rule(requestInfo('GET', '/some/where/pods/p/proxy')), 'the rule by itself').toBe(false)
  })

  row('LR-05', 'profiles are long-running', async () => {
    expect(await ask('/debug/pprof/profile')).toBe(true)
    expect(await ask('/debug/pprof/profile?seconds=30', {}, proxying)).toBe(true)
  })

  row('LR-06', 'the list of profiles is not', async () => {
    expect(await ask('/debug/pprof')).toBe(false)
    expect(await ask('/debug/pprof?watch=1')).toBe(false)
    expect(proxying.rule(requestInfo('GET', '/debug/pprof')), 'the rule by itself').toBe(false)
  })

  row('LR-07', 'getting one object is not a watch, whatever the parameter', async () => {
    expect(await ask('/api/v1/namespaces/n/pods/p?watch=true')).toBe(false)
  })

  test('kube-apiserver configures more verbs and subresources', () => {
    const rule = longRunningRule({ verbs: ['watch', 'proxy'], subresources: ['attach', 'exec', 'proxy', 'log', 'portforward'] })
    const is = (url: string) => rule(requestInfo('GET', url))
    expect(is('/api/v1/proxy/namespaces/n/pods/p')).toBe(true)
    expect(is('/api/v1/namespaces/n/pods/p/log')).toBe(true)
    expect(is('/api/v1/namespaces/n/pods/p/eviction')).toBe(false)
  })
})

describe('what else is a watch', () => {
  test.each([
    ['text/event-stream', true],
    ['application/json, text/event-stream', true],
    ['TEXT/Event-Stream;q=0.9, */*', true],
    ['text/event-streams', false],
    ['x-text/event-stream', false],
    ['*/*', false],
  ])('Accept: %s is %s', async (accept, expected) => {
    expect(await ask('/anything', { headers: { accept } })).toBe(expected)
    expect(await ask('/anything', { headers: { aCCept: accept } }), 'any spelling').toBe(expected)
  })

  test('another header with that value is not', async () => {
    expect(await ask('/anything', { headers: { 'x-note': 'text/event-stream', 'content-type': 'text/event-stream' } })).toBe(false)
  })

  const upgradeOn = (port: number) =>
    new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
        if (/(true|false)\s*(0\s*)?$/.test(answer)) socket.destroy()
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(/true|false/.exec(answer)?.[0] ?? answer))
      socket.write('GET /anything HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n')
    })

  test('an upgraded connection is; a request that only offers it and is served as a request is not', async () => {
    expect(await upgradeOn(portOf(upgrading))).toBe('true')
    extra = {}
    expect(await upgradeOn(portOf(server))).toBe('false')
    expect(isLongRunning({ url: '/', headers: { upgrade: 'websocket' } }), 'where the parser does not say').toBe(true)
  })

  test('whatever the user says is, of requests that nothing else claims', async () => {
    const asked: (string | undefined)[] = []
    const longRunning = (request: IncomingMessage) => {
      asked.push(request.url)
      return request.url === '/poll'
    }
    expect(await ask('/poll', {}, { longRunning })).toBe(true)
    expect(await ask('/other', {}, { longRunning })).toBe(false)
    expect(await ask('/api/v1/pods?watch=1', {}, { longRunning })).toBe(true)
    expect(asked).toEqual(['/poll', '/other'])
  })

  test('a user predicate that fails, or does not answer, counts as no, and is reported', async () => {
    const errors: string[] = []
    const onError = ({ message }: Error) => errors.push(message)
    const failing = () => {
      throw new Error('predicate failed')
    }
    const asynchronous = (async () => true) as unknown as () => boolean
    expect(await ask('/', {}, { longRunning: failing, onError })).toBe(false)
    expect(await ask('/', {}, { longRunning: failing })).toBe(false)
    expect(await ask('/', {}, { longRunning: asynchronous, onError })).toBe(false)
    expect(errors).toEqual(['predicate failed', 'longRunning must return a boolean, got object'])
  })
})

test('a request that it does not concern is not parsed', () => {
  const request = { method: 'GET', url: '/users/1?watch=1', headers: { accept: '*/*' }, upgrade: false }
  const parsed = () => {
    throw new Error('the path was parsed')
  }
  expect(isLongRunning(request, { rule: parsed })).toBe(false)
})
