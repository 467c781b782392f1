import { type ApiGroup, apiGroup } from '../groups/api-group.ts'
import type { ApiObject } from '../groups/api-object.ts'
import { type FieldError, fieldErrors } from '../groups/field-errors.ts'
import { METADATA } from '../groups/protobuf/object.ts'
import { defineResource, type Resource } from '../groups/resource/define-resource.ts'
import type { Storage } from '../groups/storage/storage.ts'

/** Who has something for a time, and renews that. Times have microseconds. */
export interface Lease extends ApiObject {
  spec?: LeaseSpec
}

export interface LeaseSpec {
  /** Undefined, or empty: it can be taken. */
  holderIdentity?: string
  /** How long it is held after it was renewed. */
  leaseDurationSeconds?: number
  acquireTime?: string
  renewTime?: string
  /** How often it has gone from one holder to another. */
  leaseTransitions?: number
}

const GROUP = 'coordination.k8s.io'
const MICRO_TIME = String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$`
const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }
const microTimeField = (description: string) => ({ type: 'string', format: 'date-time', pattern: MICRO_TIME, description }) as const

/**
 * Leases of `coordination.k8s.io/v1`, as kube-apiserver has them.
 * @see kubernetes/api coordination/v1/types.go LeaseSpec
 */
export const LEASES: Resource<Lease> = defineResource({
  group: GROUP,
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
  versions: {
    v1: {
      schema: {
        type: 'object',
        description: 'A lease: its holder has it for a time, and renews it.',
        properties: {
          spec: {
            type: 'object',
            description: 'Holder and times of the lease.',
            properties: {
              holderIdentity: { type: 'string', description: 'Identity of the holder. Empty when a candidate may take the lease.' },
              leaseDurationSeconds: { type: 'integer', ...INT32, description: 'Seconds that the lease is valid after a renewal.' },
              acquireTime: microTimeField('Time when the holder took the lease.'),
              renewTime: microTimeField('Time of the last renewal.'),
              leaseTransitions: { type: 'integer', ...INT32, description: 'Number of times that the holder has changed.' },
            },
          },
        },
      },
      protobuf: {
        1: ['metadata', METADATA],
        2: [
          'spec',
          {
            1: ['holderIdentity', 'text'],
            2: ['leaseDurationSeconds', 'whole'],
            3: ['acquireTime', 'micro-time'],
            4: ['renewTime', 'micro-time'],
            5: ['leaseTransitions', 'whole'],
          },
        ],
      },
      columns: [
        { name: 'Holder', type: 'string', path: '.spec.holderIdentity', description: 'Identity of the holder.' },
        { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
      ],
    },
  },
  strategy: { validate: validateSpec, allowsUnconditionalUpdate: false },
}) as Resource<Lease>

/** @see kubernetes/kubernetes pkg/apis/coordination/validation/validation.go ValidateLeaseSpec */
function validateSpec(object: ApiObject): readonly FieldError[] {
  const { leaseDurationSeconds: seconds, leaseTransitions: transitions } = (object as Lease).spec ?? {}
  return [
    ...(seconds !== undefined && seconds <= 0 ? [fieldErrors.invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0')] : []),
    ...(transitions !== undefined && transitions < 0
      ? [fieldErrors.invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0')]
      : []),
  ]
}

/**
 * The group `coordination.k8s.io`, with leases, for `installApiGroups`: what servers are known by,
 * and what leaders are elected with.
 * @param storage one that all servers share which are to know of each other
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * server.installApiGroups(leaseGroup(memoryStorage().resource()))
 */
export const leaseGroup = (storage: Storage): ApiGroup => apiGroup({ group: GROUP, versions: { v1: [{ resource: LEASES, storage }] } })
