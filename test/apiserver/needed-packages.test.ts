// Fails when: of two optional packages that a configuration needs only one is named, one is asked
// for that it does not need, or a file that something else has to read is read here.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type ApiServerConfig, completeConfig } from '#apiserver/config.ts'
import { assertPackages } from '#apiserver/needed-packages.ts'

const folder = mkdtempSync(join(tmpdir(), 'needed-packages-'))
afterAll(() => rmSync(folder, { recursive: true }))

function fileWith(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const yaml = fileWith('policy.yaml', '# of the audit\nkind: Policy\n')
const json = fileWith('policy.json', '  {"kind": "Policy"}')
const config = fileWith('config', 'kind: Config\n')
const oidc = { issuerUrl: 'https://issuer.example', clientId: 'me' }
const log = { path: '-' }

const there = (): Promise<unknown> => Promise.resolve()
const gone = (): Promise<unknown> => Promise.reject(new Error('Cannot find package'))
const missing = (given: ApiServerConfig, loaders = { yaml: gone, jose: gone }) => assertPackages(completeConfig(given), loaders)

describe('packages that are not installed', () => {
  test('are said at once, each with what it is for', async () => {
    const given = { auditPolicyFile: yaml, auditLog: log, authorizationWebhook: { kubeconfig: config }, oidc }
    await expect(missing(given)).rejects.toMatchObject({
      code: 'ERR_DEPENDENCY_MISSING',
      message: `the packages "yaml" for reading ${yaml} and reading ${config}, "jose" for tokens of OpenID Connect are not installed: npm install yaml jose`,
      details: { packages: ['yaml', 'jose'] },
    })
    await expect(missing(given, { yaml: there, jose: gone })).rejects.toThrow(
      'the package "jose" for tokens of OpenID Connect is not installed: npm install jose',
    )
    await missing(given, { yaml: there, jose: there })
  })

  test.each<[string, ApiServerConfig]>([
    ['without options', {}],
    ['JSON', { auditPolicyFile: json, auditLog: log }],
    ['a file that is not there, of which its reader says so', { auditPolicyFile: join(folder, 'none.yaml'), auditLog: log }],
    ['a file that can be read but once', { auditPolicyFile: '/dev/null', auditLog: log }],
    ['the place of a pod', { authorizationWebhook: { apiServer: 'in-cluster' } }],
  ])('are not needed for %s', async (_, given) => {
    await missing(given)
  })
})
