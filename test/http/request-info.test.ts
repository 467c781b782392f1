// Fails when a path form of the Kubernetes API is read differently than upstream reads it. The
// forms are those of the table in requestinfo_test.go and of the function's own documentation.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { requestInfo } from '#apiserver/request/request-info.ts'
import { pathOf } from '#src/http/url.ts'

/** `verb prefix group version namespace resource subresource name [parts]`, with `-` for empty. */
function brief(method: string, url: string): string {
  const { verb, isResourceRequest, apiPrefix, apiGroup, apiVersion, namespace, resource, subresource, name, parts } = requestInfo(
    method,
    url,
  )
  const fields = [verb, apiPrefix, apiGroup, apiVersion, namespace, resource, subresource, name].map((field) => field || '-')
  return `${isResourceRequest ? 'resource' : 'other'} ${fields.join(' ')} [${parts.join(' ')}]`
}

describe('requestInfo', () => {
  test.each([
    // Resource paths
    ['GET', '/api/v1/namespaces', 'resource list api - v1 - namespaces - - [namespaces]'],
    ['GET', '/api/v1/namespaces/other', 'resource get api - v1 other namespaces - other [namespaces other]'],
    ['GET', '/api/v1/namespaces/other/pods', 'resource list api - v1 other pods - - [pods]'],
    ['GET', '/api/v1/namespaces/other/pods/foo', 'resource get api - v1 other pods - foo [pods foo]'],
    ['HEAD', '/api/v1/namespaces/other/pods/foo', 'resource get api - v1 other pods - foo [pods foo]'],
    ['HEAD', '/api/v1/pods', 'resource list api - v1 - pods - - [pods]'],
    ['GET', '/apis/apps/v1/deployments', 'resource list apis apps v1 - deployments - - [deployments]'],
    ['GET', '/apis/apps/v1/namespaces/n/deployments/d', 'resource get apis apps v1 n deployments - d [deployments d]'],
    // Namespaces' own subresources are not resources inside
    ['PUT', '/api/v1/namespaces/other/finalize', 'resource update api - v1 other namespaces finalize other [namespaces other finalize]'],
    ['PUT', '/api/v1/namespaces/other/status', 'resource update api - v1 other namespaces status other [namespaces other status]'],
    ['GET', '/api/v1/namespaces/other/pods/foo/status', 'resource get api - v1 other pods status foo [pods foo status]'],
    // Verbs
    ['POST', '/api/v1/namespaces/other/pods', 'resource create api - v1 other pods - - [pods]'],
    ['PUT', '/api/v1/namespaces/other/pods/foo', 'resource update api - v1 other pods - foo [pods foo]'],
    ['PATCH', '/api/v1/namespaces/other/pods/foo', 'resource patch api - v1 other pods - foo [pods foo]'],
    ['DELETE', '/api/v1/namespaces/other/pods/foo', 'resource delete api - v1 other pods - foo [pods foo]'],
    ['DELETE', '/api/v1/namespaces/other/pods', 'resource deletecollection api - v1 other pods - - [pods]'],
    ['OPTIONS', '/api/v1/pods', 'resource - api - v1 - pods - - [pods]'],
    // Verbs written into the path
    ['GET', '/api/v1/proxy/namespaces/other/pods/foo', 'resource proxy api - v1 other pods - foo [pods foo]'],
    ['GET', '/api/v1/proxy/namespaces/other/pods/foo/sub/path', 'resource proxy api - v1 other pods - foo [pods foo sub path]'],
    ['GET', '/api/v1/watch/pods', 'resource watch api - v1 - pods - - [pods]'],
    ['GET', '/api/v1/watch/namespaces/other/pods', 'resource watch api - v1 other pods - - [pods]'],
    ['GET', '/api/v1/watch/namespaces/other/pods/foo', 'resource watch api - v1 other pods - foo [pods foo]'],
    ['GET', '/apis/apps/v1/watch/deployments', 'resource watch apis apps v1 - deployments - - [deployments]'],
    ['GET', '/api/v1/watch', 'resource get api - v1 - - - - []'],
    // The parameter
    ['GET', '/api/v1/pods?watch=true', 'resource watch api - v1 - pods - - [pods]'],
    ['GET', '/api/v1/pods?watch=1&watch=0', 'resource watch api - v1 - pods - - [pods]'],
    ['GET', '/api/v1/pods?watch=0&watch=1', 'resource list api - v1 - pods - - [pods]'],
    ['GET', '/api/v1/pods?watch=False', 'resource list api - v1 - pods - - [pods]'],
    ['GET', '/api/v1/pods?limit=x&watch', 'resource watch api - v1 - pods - - [pods]'],
    ['GET', '/api/v1/pods?watch=%zz', 'resource list api - v1 - pods - - [pods]'],
    ['GET', '/api/v1/pods?watch=1;x&a=b', 'resource list api - v1 - pods - - [pods]'],
    ['POST', '/api/v1/pods?watch=1', 'resource create api - v1 - pods - - [pods]'],
    // Non-resource paths
    ['GET', '/', 'other get - - - - - - - []'],
    ['GET', '/healthz?verbose', 'other get - - - - - - - []'],
    ['POST', '/a/b/c/d', 'other post - - - - - - - []'],
    ['GET', '/api', 'other get - - - - - - - []'],
    ['GET', '/api/v1', 'other get - - - - - - - []'],
    ['GET', '/apis/apps', 'other get - - - - - - - []'],
    ['GET', '/apis/apps/v1', 'other get apis - - - - - - []'],
    ['GET', '/apiserver/v1/pods', 'other get - - - - - - - []'],
    // Slashes and escapes
    ['GET', '//api/v1/pods/', 'resource list api - v1 - pods - - [pods]'],
    ['GET', '/api/v1/pods/a%20b', 'resource get api - v1 - pods - a b [pods a b]'],
    ['GET', 'http://example.org/api/v1/pods?watch=1', 'resource watch api - v1 - pods - - [pods]'],
    ['OPTIONS', '*', 'other options - - - - - - - []'],
  ])('%s %s', (method, url, expected) => {
    expect(brief(method, url)).toBe(expected)
  })

  test('is total: any method and URL has one answer, and it never throws', () => {
    const segment = fc.constantFrom(
      'api',
      'apis',
      'v1',
      'namespaces',
      'watch',
      'proxy',
      'status',
      'pods',
      '',
      '%',
      '%41',
      'é',
      '?',
      'watch=',
    )
    fc.assert(
      fc.property(fc.constantFrom('GET', 'DELETE', 'BREW', ''), fc.array(segment, { maxLength: 9 }), (method, segments) => {
        const url = `/${segments.join('/')}`
        const info = requestInfo(method, url)
        expect(requestInfo(method, url)).toEqual(info)
        expect(info.resource).toBe(info.parts[0] ?? '')
        expect(info.name).toBe(info.parts[1] ?? '')
        if (!info.isResourceRequest) expect(info.verb).toBe(method.toLowerCase())
      }),
    )
  })

  test('a long run of slashes costs no more than its length', () => {
    const started = performance.now()
    requestInfo('GET', `/${'/'.repeat(1_000_000)}x`)
    expect(performance.now() - started).toBeLessThan(2000)
  })
})

describe('pathOf', () => {
  test.each([
    ['/', '/'],
    ['/a?b=/c', '/a'],
    ['/a%2Fb', '/a/b'],
    ['/a%zz', '/a%zz'],
    ['http://host:80/a?b', '/a'],
    ['http://host', '/'],
    ['http://host?/a', '/'],
    ['http://host\\@x/a', '\\@x/a'],
    ['/a?to=http://host/b', '/a'],
    ['*', '*'],
    ['', ''],
  ])('%j is %j', (url, path) => {
    expect(pathOf(url)).toBe(path)
  })
})
