import { type ApiGroup, apiGroup, defineResource, memoryStorage, type Resource, type Storage } from '#apiserver/index.ts'

export const WIDGETS = '/apis/demo.example/v1/namespaces/default/widgets'

/** A kind with a status, columns and defaults. */
export const widgets: Resource = defineResource({
  group: 'demo.example',
  kind: 'Widget',
  plural: 'widgets',
  shortNames: ['wd'],
  categories: ['all'],
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: {
        type: 'object',
        description: 'Something of a size.',
        properties: {
          spec: {
            type: 'object',
            required: ['size'],
            properties: {
              size: { type: 'integer', minimum: 0, description: 'How large it is.' },
              color: { type: 'string', default: 'grey' },
            },
          },
          status: { type: 'object', properties: { ready: { type: 'boolean' } } },
        },
      },
      columns: [
        { name: 'Size', type: 'integer', path: '.spec.size' },
        { name: 'Color', type: 'string', path: '.spec.color', priority: 1 },
        { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
      ],
      subresources: { status: true },
    },
  },
})

/** One of the whole cluster. */
export const planets: Resource = defineResource({
  group: 'demo.example',
  kind: 'Planet',
  plural: 'planets',
  scope: 'Cluster',
  versions: { v1: { schema: { type: 'object', properties: { moons: { type: 'integer' } } } } },
})

export function demoGroup(storage: Storage = memoryStorage({ history: 20 }).resource()): ApiGroup {
  return apiGroup({
    group: 'demo.example',
    versions: {
      v1: [
        { resource: widgets, storage },
        { resource: planets, storage: memoryStorage().resource() },
      ],
    },
  })
}

export const widget = (name: string, { size = 1, ...metadata }: Record<string, unknown> = {}): object => ({
  apiVersion: 'demo.example/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec: { size },
})
