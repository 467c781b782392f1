// A kind of several versions in a file and in etcd, whose stored version changes from one start of
// its server to the next. Fails when: objects of before cannot be read, watched or written after
// it, a client that watched before misses or sees again what was rewritten, or a way back is
// closed.
import { mkdtemp, rm } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ApiObject, loopbackResource, type Resource, rewriteObjects, storageOver, storeAt } from '#apiserver/index.ts'
import { GADGETS, gadget, gadgetGroup, gadgets } from '../groups/gadgets.ts'
import { type ServedApi, serveApi } from '../support/api-server.ts'
import { EtcdProcess, hasEtcd } from '../support/etcd-process.mjs'

const JSON_TYPE = { 'Content-Type': 'application/json' }
const MERGE = { 'Content-Type': 'application/merge-patch+json' }

async function serve(url: string, resource: Resource, watchCache: boolean): Promise<ServedApi> {
  const storage = storageOver(storeAt(url), resource, { watchCache })
  const served = await serveApi({ setUp: (server) => void server.installApiGroups(gadgetGroup(resource, storage)) })
  await expect.poll(async () => (await served.ask('/readyz')).status).toBe(200)
  return served
}

const listOf = async ({ ask }: ServedApi, version: string) =>
  (await (await ask(GADGETS(version))).json()) as {
    readonly items: readonly ApiObject[]
    readonly metadata: { readonly resourceVersion: string }
  }

/** What a watch gives behind one version and up to another. */
async function namesBehind({ ask }: ServedApi, version: string, after: string, upTo: string): Promise<readonly string[]> {
  const over = new AbortController()
  const answer = await ask(`${GADGETS(version)}?watch=1&resourceVersion=${after}`, { signal: over.signal })
  const names: string[] = []
  let seen: string | undefined
  let text = ''
  for await (const chunk of answer.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (text + Buffer.from(chunk).toString()).split('\n')
    text = lines.pop() ?? ''
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as { readonly type: string; readonly object: ApiObject }
      seen = object.metadata.resourceVersion
      names.push(`${type} ${object.metadata.name} ${object.apiVersion.replace('demo.example/', '')}`)
    }
    if (seen === upTo) break
  }
  over.abort()
  return names
}

async function file(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quiesce-versions-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return `file:${join(folder, 'store.db')}`
}

async function etcd(): Promise<string> {
  const running = await EtcdProcess.start()
  onTestFinished(() => running.dispose())
  return `etcd://${running.endpoint}/versions`
}

if (!isBuiltin('node:sqlite')) test('a Node without SQLite has no file', () => expect(isBuiltin('node:sqlite')).toBe(false))
if (!hasEtcd) test('etcd is not on this machine: install etcd-server', () => void expect(hasEtcd).toBe(false))

const ENGINES = [...(isBuiltin('node:sqlite') ? [file] : []), ...(hasEtcd ? [etcd] : [])]
const CELLS = ENGINES.flatMap((engine) => [true, false].map((watchCache) => ({ name: engine.name, engine, watchCache })))

if (CELLS.length > 0)
  test.each(CELLS)(
    'a version stored in $name changes from start to start, and back (watch cache: $watchCache)',
    async ({ engine, watchCache }) => {
      const url = await engine()

      const first = await serve(url, gadgets('v1beta1'), watchCache)
      for (const [size, name] of ['a', 'b', 'c'].entries()) {
        const sent = JSON.stringify(gadget('v1', name, { size, color: 'red' }))
        expect((await first.ask(GADGETS('v1'), { method: 'POST', headers: JSON_TYPE, body: sent })).status).toBe(201)
      }
      const { items: before, metadata } = await listOf(first, 'v1')
      expect((await first.life.stop('over')).exitCode).toBe(0)

      const second = await serve(url, gadgets('v1'), watchCache)
      expect((await listOf(second, 'v1')).items).toEqual(before)
      expect((await listOf(second, 'v1beta1')).items.map(({ spec }) => spec)).toEqual([
        { width: '0mm' },
        { width: '1mm' },
        { width: '2mm' },
      ])
      const client = loopbackResource({ fetch: (to, init) => second.ask(to, init), addresses: [] }, gadgets())
      const { signal } = new AbortController()
      expect(await rewriteObjects(client, { signal })).toBe(3)
      await second.ask(`${GADGETS('v1beta1')}/c`, { method: 'PATCH', headers: MERGE, body: '{"spec":{"width":"9mm"}}' })
      const { items: after, metadata: now } = await listOf(second, 'v1')
      // It goes on where it was before the start, and each rewrite is a change.
      expect(await namesBehind(second, 'v1alpha1', metadata.resourceVersion, now.resourceVersion)).toEqual(
        ['a', 'b', 'c', 'c'].map((name) => `MODIFIED ${name} v1alpha1`),
      )
      expect(after.map(({ spec, metadata: { generation } }) => [spec, generation])).toEqual([
        [{ size: 0, color: 'red' }, 1],
        [{ size: 1, color: 'red' }, 1],
        [{ size: 9, color: 'red' }, 2],
      ])
      await second.life.stop('over')

      const back = await serve(url, gadgets('v1beta1'), watchCache)
      expect((await listOf(back, 'v1')).items).toEqual(after)
    },
  )
