// The informer of @kubernetes/client-node; a line for each event. Its folder is given first, the server's URL second.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, server] = process.argv.slice(2)
const entry = createRequire(join(folder, 'package.json')).resolve('@kubernetes/client-node')
const { CustomObjectsApi, KubeConfig, makeInformer } = await import(pathToFileURL(entry).href)
const config = new KubeConfig()
config.loadFromOptions({
  clusters: [{ name: 'c', server, skipTLSVerify: true }],
  users: [{ name: 'u' }],
  contexts: [{ name: 'x', cluster: 'c', user: 'u' }],
  currentContext: 'x',
})
const of = { group: 'clients.example', version: 'v1', namespace: 'default', plural: 'notes' }
const list = () => config.makeApiClient(CustomObjectsApi).listNamespacedCustomObject(of)
const informer = makeInformer(config, '/apis/clients.example/v1/namespaces/default/notes', list)
const say = (type) => (object) =>
  console.log(JSON.stringify({ type, name: object.metadata.name, version: object.metadata.resourceVersion, number: object.number ?? 0 }))
for (const [event, type] of [
  ['add', 'ADDED'],
  ['update', 'MODIFIED'],
  ['delete', 'DELETED'],
])
  informer.on(event, say(type))
// As its documentation says: who wants it to go on starts it again.
informer.on('error', () => setTimeout(() => void informer.start(), 100))
await informer.start()
