// Fails when upstream's rule takes a plain request for a watch, or the other way round, or when a
// rule of the user's can break a request. The rows go through real sockets: node's parser decides
// what a request target is.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kubernetesLongRunning, longRunningRule } from '#apiserver/request/long-running.ts'
import { requestInfo } from '#apiserver/request/request-info.ts'
import { safeLongRunning } from '#src/http/watch-rule.ts'
import { row } from '../support/row.ts'

/** What the request that came last is taken for, and by whom. */
type Rule = (request: { readonly method?: string | undefined; readonly url?: string | undefined }) => boolean | undefined
let rule: Rule = kubernetesLongRunning
const server = createServer((request, response) => void response.end(String(rule(request))))

beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

async function ask(path: string, { method = 'GET', headers = {} }: RequestInit = {}, asked: Rule = kubernetesLongRunning) {
  rule = asked
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method, headers })
  return (await response.text()) === 'true'
}

const proxyRule = longRunningRule({ verbs: ['watch'], subresources: ['proxy'] })
const proxying: Rule = ({ method = 'GET', url = '/' }) => proxyRule(requestInfo(method, url))

describe('upstream’s rule', () => {
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
    expect(proxyRule(requestInfo('GET', '/some/where/pods/p/proxy')), 'the rule by itself').toBe(false)
  })

  row('LR-05', 'profiles are long-running', async () => {
    expect(await ask('/debug/pprof/profile')).toBe(true)
    expect(await ask('/debug/pprof/profile?seconds=30', {}, proxying)).toBe(true)
  })

  row('LR-06', 'the list of profiles is not', async () => {
    expect(await ask('/debug/pprof')).toBe(false)
    expect(await ask('/debug/pprof?watch=1')).toBe(false)
    expect(proxyRule(requestInfo('GET', '/debug/pprof')), 'the rule by itself').toBe(false)
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

describe('upstream’s rule, for servers of its API,', () => {
  test('looks at method and URL alone', async () => {
    expect(await ask('/anything', { headers: { accept: 'text/event-stream' } })).toBe(false)
    expect(await ask('/api/v1/pods?watch=1', { method: 'POST' })).toBe(false)
    expect(await ask('/api/v1/pods?watch=1', { headers: { accept: 'application/json' } })).toBe(true)
  })

  test('is total', () => {
    expect(
      [{}, { url: '' }, { url: '*', method: 'OPTIONS' }, { url: '/api/%zz/pods/%' }, { url: 'http://a/api/v1/watch/pods' }].map(
        kubernetesLongRunning,
      ),
    ).toEqual([undefined, undefined, undefined, undefined, true])
  })
})

describe('a rule of the user’s', () => {
  const none = () => {
    throw new Error('nothing is wrong')
  }

  test('is the only one: without it no request is a watch by its looks', async () => {
    const without = safeLongRunning(undefined, none)
    for (const path of ['/api/v1/pods?watch=1', '/api/v1/watch/123', '/debug/pprof/profile']) {
      expect(await ask(path, { headers: { accept: 'text/event-stream' } }, without)).toBe(false)
    }
    const own: Rule = safeLongRunning(({ url }) => url === '/poll', none)
    expect([await ask('/poll', {}, own), await ask('/other', {}, own), await ask('/api/v1/pods?watch=1', {}, own)]).toEqual([
      true,
      false,
      false,
    ])
  })

  test('that says nothing leaves it open, which is no error', () => {
    expect([true, false, undefined].map((answer) => safeLongRunning(() => answer, none)({}))).toEqual([true, false, undefined])
  })

  test('that fails, or does not answer, has said nothing, and is reported', async () => {
    const errors: string[] = []
    const onError = ({ message }: Error) => void errors.push(message)
    const failing = () => {
      throw new Error('predicate failed')
    }
    const asynchronous = (async () => true) as unknown as () => boolean | undefined
    // Nothing else hears of its rejection, which would end the process.
    const rejecting = (async () => failing()) as unknown as () => boolean | undefined
    expect(safeLongRunning(failing, onError)({})).toBeUndefined()
    expect(safeLongRunning(asynchronous, onError)({})).toBeUndefined()
    expect(safeLongRunning(rejecting, onError)({})).toBeUndefined()
    const returned = expect.stringMatching(/^longRunning: returned a promise, allowed: true, false or undefined$/)
    expect(errors).toEqual(['predicate failed', returned, returned])
  })
})
