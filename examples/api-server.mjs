// An API server with one kind of objects, for kubectl and other clients of Kubernetes.
//   node api-server.mjs & kubectl --server http://localhost:8080 get teas -w & sleep 5; kill -TERM %1; wait
import { apiGroup, completeConfig, createApiServer, defineResource, memoryStorage } from '@quiesce/apiserver'

const teas = defineResource({
  group: 'shop.example',
  kind: 'Tea',
  plural: 'teas',
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: {
        type: 'object',
        properties: { spec: { type: 'object', required: ['origin'], properties: { origin: { type: 'string' } } } },
      },
      columns: [{ name: 'Origin', type: 'string', path: '.spec.origin' }],
    },
  },
})

const server = createApiServer(completeConfig({ port: Number(process.env.PORT ?? 8080), watchGrace: '3s' }))
server.installApiGroups(apiGroup({ group: 'shop.example', versions: { v1: [{ resource: teas, storage: memoryStorage().resource() }] } }))
server.addReadyzCheck('kettle', () => true)
await server.prepare().run()
