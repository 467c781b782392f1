// Informers of a server that runs, over its own listener. Fails when: the server is ready before
// they have their objects, they do not see what is written, or they outlive the server, or end
// before its requests have.
import { describe, expect, test } from 'vitest'
import { loopbackResource } from '#apiserver/client/loopback-resource.ts'
import { storageListWatch } from '#apiserver/client/storage-list-watch.ts'
import { type ApiObject, memoryStorage, StatusError } from '#apiserver/index.ts'
import { createInformer, type Informer, type InformerEvent } from '#apiserver/informer/informer.ts'
import { type SharedInformers, sharedInformers } from '#apiserver/informer/shared-informers.ts'
import { demoGroup, planets, widget, widgets } from '../groups/widgets.ts'
import { serveApi } from '../support/api-server.ts'
import { row } from '../support/row.ts'

const names = (informer: Informer): string[] =>
  informer
    .list()
    .map(({ metadata }) => metadata.name)
    .sort()

describe('shared informers', () => {
  test('follow what is written, each kind once', async () => {
    let informers: SharedInformers | undefined
    const told: string[] = []
    const { life, ask } = await serveApi({
      setUp: (server) => {
        server.installApiGroups(demoGroup())
        informers = sharedInformers(server)
        informers.of(widgets).events$.subscribe(({ type, object }) => void told.push(`${type} ${object.metadata.name}`))
      },
    })
    const informer = informers?.of(widgets) as Informer
    expect(informers?.of(widgets)).toBe(informer)
    expect(informers?.of(widgets, { namespace: 'default' })).not.toBe(informer)
    await expect.poll(async () => (await ask('/readyz/informer-sync')).status).toBe(200)
    const post = (name: string) =>
      ask('/apis/demo.example/v1/namespaces/default/widgets', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(widget(name)),
      })
    expect((await post('one')).status).toBe(201)
    await expect.poll(() => names(informer)).toEqual(['one'])
    // Asked for later, and begun at once.
    const late = informers?.of(planets) as Informer
    await expect.poll(() => late.hasSynced).toBe(true)
    expect((await ask('/apis/demo.example/v1/namespaces/default/widgets/one', { method: 'DELETE' })).status).toBe(200)
    await expect.poll(() => told).toEqual(['added one', 'deleted one'])
    const ended = new Promise<void>((resolve) => informer.events$.subscribe({ complete: resolve }))
    expect((await life.stop('over')).exitCode).toBe(0)
    await ended
  })

  row(['HZ-19', 'HZ-20'], 'keep the server from being ready until each has its objects', async () => {
    const memory = memoryStorage().resource()
    let isOpen = false
    const slow = {
      list: async (query: Parameters<typeof memory.list>[0]) => (isOpen ? memory.list(query) : Promise.reject(new Error('late'))),
      watch: memory.watch.bind(memory),
    }
    const { ask, lines } = await serveApi({
      setUp: (server) => {
        server.installApiGroups(demoGroup({ ...slow, get: memory.get.bind(memory) }))
        const informers = sharedInformers(server)
        informers.of(widgets)
        informers.of(planets)
      },
    })
    await expect.poll(async () => (await ask('/readyz/informer-sync')).status).toBe(500)
    await expect
      .poll(async () => (await ask('/readyz/informer-sync')).text())
      .toContain('internal server error: 1 informers not started yet: [demo.example/v1/widgets]')
    expect((await ask('/livez')).status).toBe(200)
    expect((await ask('/readyz')).status).toBe(500)
    await expect
      .poll(() => lines.map(({ message }) => message))
      .toContainEqual(expect.stringMatching(/^informer of demo\.example\/v1\/widgets tries again: /))
    isOpen = true
    await expect.poll(async () => (await ask('/readyz/informer-sync')).status).toBe(200)
  })
})

describe('a client of the loopback', () => {
  test('reads, writes and watches', async () => {
    let client: ReturnType<typeof loopbackResource<ApiObject>> | undefined
    const memory = memoryStorage({ history: 3 }).resource()
    await serveApi({
      setUp: (server) => {
        server.installApiGroups(demoGroup(memory))
        client = loopbackResource(server.loopback, widgets, { namespace: 'default' })
      },
    })
    if (!client) throw new Error('no client')
    const key = { namespace: 'default', name: 'one' }
    expect(await client.get(key)).toBeUndefined()
    const created = await client.create(widget('one', { namespace: 'default' }) as ApiObject)
    await expect(client.create(widget('one', { namespace: 'default' }) as ApiObject)).rejects.toMatchObject({
      failure: { code: 409, reason: 'AlreadyExists' },
    })
    const updated = await client.update({ ...created, spec: { size: 2 } })
    await expect(client.update({ ...created, spec: { size: 3 } })).rejects.toMatchObject({ failure: { code: 409, reason: 'Conflict' } })
    expect((await client.get(key))?.['spec']).toMatchObject({ size: 2 })
    for (let at = 0; at < 1_100; at++) await memory.create(widget(`many-${at}`, { namespace: 'default' }) as ApiObject)
    const { items, resourceVersion } = await client.list({ signal: new AbortController().signal })
    expect(items).toHaveLength(1_101)
    const seen: string[] = []
    const watching = client
      .watch(resourceVersion)
      .subscribe((event) => seen.push(event.type === 'BOOKMARK' ? 'BOOKMARK' : `${event.type} ${event.object.metadata.name}`))
    await expect(client.delete(key, { uid: 'another' })).rejects.toMatchObject({ failure: { code: 409 } })
    await client.delete(key, { uid: updated.metadata.uid })
    await expect.poll(() => seen).toEqual(['DELETED one'])
    watching.unsubscribe()
    await expect(client.delete(key)).rejects.toThrow(StatusError)
    const tooOld = new Promise((resolve) => client?.watch('1').subscribe({ error: resolve }))
    expect(await tooOld).toMatchObject({ failure: { code: 410 } })
  })
})

test('a storage of the process can be followed without a server', async () => {
  const memory = memoryStorage().resource()
  await memory.create(widget('one', { namespace: 'default' }) as ApiObject)
  const informer = createInformer(storageListWatch('demo.example/v1/widgets', memory))
  const events: InformerEvent[] = []
  informer.events$.subscribe((event) => void events.push(event))
  const stop = new AbortController()
  const ended = informer.run(stop.signal)
  await informer.synced()
  await memory.create(widget('two', { namespace: 'default' }) as ApiObject)
  await expect.poll(() => events.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual(['added one', 'added two'])
  stop.abort()
  await ended
  expect(() => storageListWatch('x', {})).toThrow('storage of storageListWatch(name, storage)')
})
