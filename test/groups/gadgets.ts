import {
  type ApiGroup,
  type ApiObject,
  apiGroup,
  type Conversion,
  defineResource,
  type Resource,
  type Storage,
  type StoreStorage,
} from '#apiserver/index.ts'

export const GADGETS = (version: string): string => `/apis/demo.example/${version}/namespaces/default/gadgets`

export type GadgetVersion = 'v1' | 'v1beta1' | 'v1alpha1'

const COLOR = 'demo.example/color'

/** What v1beta1 cannot say is kept in an annotation. */
export const BETA: Conversion = {
  toHub: ({ metadata, spec, ...rest }) => {
    const { [COLOR]: color, ...annotations } = metadata.annotations ?? {}
    const { width } = spec as { readonly width: string }
    return {
      ...rest,
      metadata: { ...metadata, annotations },
      spec: { size: Number.parseInt(width, 10), ...(color !== undefined && { color }) },
    }
  },
  fromHub: ({ metadata, spec, ...rest }) => {
    const { size, color } = spec as { readonly size: number; readonly color?: string }
    const annotations = { ...metadata.annotations, ...(color !== undefined && color !== 'grey' && { [COLOR]: color }) }
    return { ...rest, metadata: { ...metadata, annotations }, spec: { width: `${size}mm` } }
  },
}

const ALPHA: Conversion = {
  toHub: ({ width, color }) => ({ spec: { size: width, color } }),
  fromHub: ({ spec }) => {
    const { size, color } = spec as { readonly size: number; readonly color?: string }
    return { width: size, color }
  },
}

/** A kind with three versions. */
export function gadgets(storageVersion: GadgetVersion = 'v1', beta: Conversion = BETA) {
  return defineResource({
    group: 'demo.example',
    kind: 'Gadget',
    plural: 'gadgets',
    scope: 'Namespaced',
    hub: 'v1',
    storageVersion,
    versions: {
      v1: {
        schema: {
          type: 'object',
          required: ['spec'],
          properties: {
            spec: {
              type: 'object',
              required: ['size'],
              properties: {
                size: { type: 'integer', minimum: 0, maximum: 1_000, description: 'In millimetres.' },
                color: { type: 'string', default: 'grey' },
              },
            },
            status: { type: 'object', properties: { ready: { type: 'boolean' } } },
          },
        },
        columns: [{ name: 'Size', type: 'integer', path: '.spec.size' }],
        subresources: { status: true, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
      },
      v1beta1: {
        schema: {
          type: 'object',
          properties: {
            spec: {
              type: 'object',
              properties: { width: { type: 'string', pattern: '^-?[0-9]+mm$', default: '7mm', description: 'With its unit.' } },
              default: {},
            },
            status: { type: 'object', properties: { ready: { type: 'boolean' } } },
          },
        },
        columns: [{ name: 'Width', type: 'string', path: '.spec.width' }],
        subresources: { status: true },
        convert: beta,
      },
      v1alpha1: {
        schema: { type: 'object', properties: { width: { type: 'integer' }, color: { type: 'string' } } },
        convert: ALPHA,
      },
    },
  })
}

export function gadgetGroup(resource: Resource, storage: Storage): ApiGroup {
  const served = [{ resource, storage }]
  return apiGroup({ group: 'demo.example', versions: { v1: served, v1beta1: served, v1alpha1: served } })
}

/** What several servers share is destroyed by none of them. */
export const kept = (storage: StoreStorage): Storage => ({
  get: storage.get,
  list: storage.list,
  create: storage.create,
  update: storage.update,
  delete: storage.delete,
  watch: storage.watch,
})

export const gadget = (version: GadgetVersion, name: string, spec?: object, metadata: object = {}): object => ({
  apiVersion: `demo.example/${version}`,
  kind: 'Gadget',
  metadata: { name, ...metadata },
  ...(version === 'v1alpha1' ? spec : spec && { spec }),
})

/** As it is stored. */
export const storedGadget = (storage: Storage, name: string): Promise<ApiObject | undefined> =>
  Promise.resolve(storage.get?.({ namespace: 'default', name }))
