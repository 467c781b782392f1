// The real kubectl and a kind of several versions. Fails when: kubectl cannot use each version, or
// `get` and `replace` do not bring old objects into the version that is stored now.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type ApiObject,
  addIdentityLease,
  addStorageVersions,
  leaseGroup,
  memoryStorage,
  namespaceGroup,
  type Storage,
  storageVersionGroup,
} from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { useKubectl } from '../support/kubectl.ts'
import { gadgetGroup, gadgets, kept, storedGadget } from './gadgets.ts'

const { isThere, folder, run: kubectl } = useKubectl()

/** A server whose kubectl is expected to say things. */
async function serve(storageVersion: 'v1' | 'v1beta1', storage: Storage) {
  const memory = memoryStorage()
  const { life, port, ask } = await serveApi({
    setUp: (server) => {
      server.installApiGroups(
        leaseGroup(memory.resource()),
        storageVersionGroup(memory.resource()),
        gadgetGroup(gadgets(storageVersion), storage),
      )
      // A list is of the group without a name, which kubectl has to find to read one.
      server.installLegacyApiGroup('/api', namespaceGroup(memory.resource()))
      addIdentityLease(server, { id: 'self' })
      addStorageVersions(server)
    },
  })
  await expect.poll(async () => (await ask('/readyz')).status).toBe(200)
  /** Each with what it says, or with its exit code when it fails. */
  const run = async (expected: RegExp, ...args: readonly string[]): Promise<string> => {
    const { code, text } = await kubectl(port, ...args).ended
    expect(`${code} ${text}`, args.join(' ')).toMatch(expected)
    return text
  }
  return { life, run }
}

test(isThere ? 'kubectl uses each version, and migrates' : 'kubectl is not on this machine: install kubernetes-client', async () => {
  if (!isThere) return
  const file = join(folder, 'gadgets.json')
  const storage = memoryStorage().resource(gadgets())
  const write = (...objects: readonly object[]): void =>
    writeFileSync(file, JSON.stringify({ kind: 'List', apiVersion: 'v1', items: objects }))
  const of = (version: string, name: string, spec: object) => ({
    apiVersion: `demo.example/${version}`,
    kind: 'Gadget',
    metadata: { name },
    spec,
  })

  const before = await serve('v1beta1', kept(storage))
  write(of('v1beta1', 'a', { width: '3mm' }), of('v1', 'b', { size: 4, color: 'red' }))
  await before.run(/^0 gadget\.demo\.example\/a created\ngadget\.demo\.example\/b created/, 'create', '-f', file)
  await before.run(/^0 NAME +SIZE\na +3\nb +4/, 'get', 'gadgets')
  await before.run(/^0 NAME +WIDTH\na +3mm\nb +4mm/, 'get', 'gadgets.v1beta1.demo.example')
  await before.run(/^0 [\s\S]*With its unit/, 'explain', 'gadget.spec.width', '--api-version=demo.example/v1beta1')
  await before.run(/^0 [\s\S]*In millimetres/, 'explain', 'gadget.spec.size')
  await before.run(/^0 [\s\S]*demo\.example\/v1\n[\s\S]*demo\.example\/v1alpha1\n[\s\S]*demo\.example\/v1beta1\n/, 'api-versions')
  await before.run(/^0 [\s\S]*demo\.example\.gadgets +demo\.example\/v1beta1/, 'get', 'storageversions')
  write(of('v1beta1', 'a', { width: '5mm' }))
  await before.run(/^0 [\s\S]*a configured/, 'apply', '-f', file)
  await before.run(/^0 [\s\S]*a unchanged/, 'apply', '-f', file)
  await before.life.stop('over')

  const after = await serve('v1', kept(storage))
  const storedAs = async (): Promise<readonly (string | undefined)[]> =>
    Promise.all(['a', 'b'].map(async (name) => ((await storedGadget(storage, name)) as ApiObject | undefined)?.apiVersion))
  expect(await storedAs()).toEqual(['demo.example/v1beta1', 'demo.example/v1beta1'])
  writeFileSync(file, await after.run(/^0 \{/, 'get', 'gadgets', '--all-namespaces', '-o', 'json'))
  await after.run(/^0 gadget\.demo\.example\/a replaced\ngadget\.demo\.example\/b replaced/, 'replace', '-f', file)
  expect(await storedAs()).toEqual(['demo.example/v1', 'demo.example/v1'])
  expect(await storedGadget(storage, 'b')).toMatchObject({ spec: { size: 4, color: 'red' } })
  await after.run(
    /^0 [\s\S]*condition met/,
    'wait',
    '--for=condition=AllEncodingVersionsEqual',
    'storageversion/demo.example.gadgets',
    '--timeout=20s',
  )
})
