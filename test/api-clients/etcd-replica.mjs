// @ts-check
// One of several API servers whose objects are in one etcd, until SIGTERM. Argument: { "port", "etcd", "shutdownDelay" } as JSON. It says a line on
// standard output when it listens, and its exit code is its word on how it ended.
import {
  addIdentityLease,
  apiGroup,
  completeConfig,
  createApiServer,
  createStore,
  etcdEngine,
  LEASES,
  leaseGroup,
  storageOver,
} from '../../packages/apiserver/dist/index.js'
import { notes } from './notes.mjs'

const { port, etcd, shutdownDelay } = JSON.parse(process.argv[2] ?? '')
const store = createStore(etcdEngine(etcd))
const config = completeConfig({ port, host: '127.0.0.1', shutdownDelay, watchGrace: '2s', platform: 'unknown', logger: false })
const server = createApiServer(config)
server.installApiGroups(
  apiGroup({ group: notes.group, versions: { v1: [{ resource: notes, storage: storageOver(store, notes) }] } }),
  leaseGroup(storageOver(store, LEASES)),
)
addIdentityLease(server)
const running = server.prepare().run()
process.stdout.write('starting\n')
await running
