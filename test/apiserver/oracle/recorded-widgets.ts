import { type ApiGroup, apiGroup, defineResource, fieldErrors, memoryStorage } from '#apiserver/index.ts'

interface WidgetSpec {
  readonly size?: number
  readonly color?: string
}

const COLOR_MAX = 20

/** The resource of the recorded server, as its program defines it; its revisions begin with 1. */
export function recordedWidgets(): ApiGroup {
  const widgets = defineResource({
    group: 'widgets.example',
    kind: 'Widget',
    plural: 'widgets',
    shortNames: ['wd'],
    categories: ['all'],
    scope: 'Namespaced',
    versions: {
      v1: {
        schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { size: { type: 'integer', format: 'int32' }, color: { type: 'string' } } },
          },
        },
      },
    },
    strategy: {
      // The recorded one counts no generations.
      prepareForCreate: ({ metadata }) => void delete metadata.generation,
      validate: (object) => {
        const { size = 0, color = '' } = (object['spec'] ?? {}) as WidgetSpec
        return [
          ...(size < 0 ? [fieldErrors.invalid('spec.size', size, 'must not be negative')] : []),
          ...(color.length > COLOR_MAX ? [fieldErrors.tooLong('spec.color', COLOR_MAX)] : []),
        ]
      },
      warnings: (object) => ((object['spec'] as WidgetSpec | undefined)?.color === 'beige' ? ['spec.color: beige is out of fashion'] : []),
    },
  })
  return apiGroup({
    group: 'widgets.example',
    versions: { v1: [{ resource: widgets, storage: memoryStorage({ revision: 0 }).resource() }] },
  })
}
