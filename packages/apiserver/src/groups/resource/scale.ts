import { type ApiObject, type Fields, isFields, setField } from '../api-object.ts'
import { type FieldError, fieldErrors } from '../field-errors.ts'
import { defineResource, type Resource, type ScalePaths } from './define-resource.ts'
import type { JsonSchema } from './schema.ts'

const count = (description: string): JsonSchema => ({ type: 'integer', format: 'int32', description })

/**
 * How many of something there are to be, and are: the same for every kind that can be scaled.
 * @see kubernetes/api autoscaling/v1/types.go Scale
 */
const scaleOfScope = (scope: 'Namespaced' | 'Cluster'): Resource =>
  defineResource({
    group: 'autoscaling',
    kind: 'Scale',
    plural: 'scales',
    scope,
    versions: {
      v1: {
        columns: [
          { name: 'Desired', type: 'integer', path: '.spec.replicas', description: 'Number of desired replicas' },
          { name: 'Available', type: 'integer', path: '.status.replicas', description: 'Number of actual replicas' },
          { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
        ],
        schema: {
          type: 'object',
          description: 'A scale: the wanted and the current number of replicas.',
          properties: {
            spec: {
              type: 'object',
              description: 'The wanted state.',
              properties: { replicas: count('Wanted number of replicas.') },
              default: {},
            },
            status: {
              type: 'object',
              description: 'The current state.',
              properties: {
                replicas: count('Current number of replicas.'),
                selector: { type: 'string', description: 'Selector of the replicas.' },
              },
            },
          },
        },
      },
    },
    strategy: {
      validate: ({ spec }) => {
        const replicas = wanted(spec)
        if (replicas < 0) return [fieldErrors.invalid('spec.replicas', replicas, 'must be greater than or equal to 0')]
        return countErrors('spec.replicas', replicas)
      },
    },
  })

const NAMESPACED = scaleOfScope('Namespaced')
const OF_CLUSTER = scaleOfScope('Cluster')

/** The kind that a scale of a resource is. */
export const scaleKind = ({ isNamespaced }: Resource): Resource => (isNamespaced ? NAMESPACED : OF_CLUSTER)

const wanted = (spec: unknown): number => (isFields(spec) && typeof spec['replicas'] === 'number' ? spec['replicas'] : 0)

const namesOf = (path: string): readonly string[] => path.slice(1).split('.')

function valueAt(object: ApiObject, path: string): unknown {
  let value: unknown = object
  for (const name of namesOf(path)) value = isFields(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return value
}

/** Clients have 32 bits for it. */
const COUNT_MAX = 2 ** 31 - 1

/**
 * What is wrong with the numbers that the scale of an object would have, in the part that is
 * written.
 * @see kubernetes/apiextensions-apiserver pkg/registry/customresource/validator.go
 */
export function scaleErrors(
  object: ApiObject,
  { specReplicasPath, statusReplicasPath }: ScalePaths,
  isOfStatus: boolean,
): readonly FieldError[] {
  const path = isOfStatus ? statusReplicasPath : specReplicasPath
  return countErrors(path, valueAt(object, path))
}

function countErrors(path: string, value: unknown): readonly FieldError[] {
  if (typeof value !== 'number') return []
  if (value < 0) return [fieldErrors.invalid(path, value, 'should be a non-negative integer')]
  return value > COUNT_MAX ? [fieldErrors.invalid(path, value, `should be less than or equal to ${COUNT_MAX}`)] : []
}

/**
 * The scale of an object. One that does not say how many there are to be has `unset` of them, and
 * no scale where that is undefined.
 * @see kubernetes/apiextensions-apiserver pkg/registry/customresource/etcd.go
 * scaleFromCustomResource
 */
export function scaleOf(
  object: ApiObject,
  { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths,
  unset?: number,
): ApiObject | undefined {
  const replicas = valueAt(object, specReplicasPath) ?? unset
  if (typeof replicas !== 'number') return undefined
  const current = valueAt(object, statusReplicasPath)
  const selector = labelSelectorPath === undefined ? undefined : valueAt(object, labelSelectorPath)
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata
  const given = { namespace, uid, resourceVersion, creationTimestamp }
  const metadata = { name, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) }
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata,
    spec: { replicas },
    status: {
      replicas: typeof current === 'number' ? current : 0,
      ...(typeof selector === 'string' && selector !== '' && { selector }),
    },
  }
}

/**
 * How many there are to be in the scale that a patch changes, of an object that does not say so. A
 * patch that leaves it does not say so either.
 * @see kubernetes/apiextensions-apiserver pkg/registry/customresource/etcd.go invalidSpecReplicas
 */
export const UNSET_REPLICAS = -(2 ** 31)

/** The object with as many as its scale asks for. */
export function scaledTo(object: ApiObject, { spec }: ApiObject, { specReplicasPath }: ScalePaths): ApiObject {
  const scaled = structuredClone(object) as Fields
  const names = namesOf(specReplicasPath)
  let inside = scaled
  for (const name of names.slice(0, -1)) {
    const next = isFields(inside[name]) && Object.hasOwn(inside, name) ? inside[name] : {}
    setField(inside, name, next)
    inside = next
  }
  setField(inside, names.at(-1) as string, wanted(spec))
  return scaled as unknown as ApiObject
}
