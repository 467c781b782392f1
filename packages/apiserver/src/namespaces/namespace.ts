import { type ApiGroup, apiGroup } from '../groups/api-group.ts'
import type { ApiObject } from '../groups/api-object.ts'
import { KUBERNETES_FINALIZER, STANDARD_FINALIZERS } from '../groups/deletion-finalizers.ts'
import { type FieldError, fieldErrors } from '../groups/field-errors.ts'
import { METADATA } from '../groups/protobuf/object.ts'
import type { MessageShape } from '../groups/protobuf/read-message.ts'
import { defineResource, type Resource } from '../groups/resource/define-resource.ts'
import type { Storage } from '../groups/storage/storage.ts'
import { labelProblems, qualifiedNameProblems } from '../names.ts'

/** A part of a server's objects, with names of their own. */
export interface Namespace extends ApiObject {
  spec?: {
    /** Who has still to do something before a namespace that is deleted is gone. */
    finalizers?: readonly string[]
  }
  status?: NamespaceStatus
}

export interface NamespaceStatus {
  /** `Terminating` from when it is deleted on: nothing more is created in it. */
  readonly phase?: 'Active' | 'Terminating'
  readonly conditions?: readonly NamespaceCondition[]
}

/** What is known of the deletion of what is in it. */
export interface NamespaceCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly lastTransitionTime?: string
  readonly reason?: string
  readonly message?: string
}

/**
 * The label by which selectors find a namespace.
 * @see kubernetes/api core/v1/well_known_labels.go
 */
const NAME_LABEL = 'kubernetes.io/metadata.name'

/** @see kubernetes/api core/v1/generated.proto NamespaceCondition */
const CONDITION: MessageShape = {
  1: ['type', 'text'],
  2: ['status', 'text'],
  4: ['lastTransitionTime', 'time'],
  5: ['reason', 'text'],
  6: ['message', 'text'],
}

/**
 * Namespaces of the core group `v1`, as kube-apiserver has them. One that is deleted stays until
 * `spec.finalizers` is empty: until what is in it is gone.
 * @see kubernetes/kubernetes pkg/registry/core/namespace/strategy.go
 */
export const NAMESPACES: Resource<Namespace> = defineResource({
  group: '',
  kind: 'Namespace',
  plural: 'namespaces',
  shortNames: ['ns'],
  scope: 'Cluster',
  versions: {
    v1: {
      schema: {
        type: 'object',
        description: 'A namespace: names of objects are unique inside it.',
        properties: {
          spec: {
            type: 'object',
            description: 'Finalizers of the namespace.',
            properties: {
              finalizers: {
                type: 'array',
                items: { type: 'string' },
                'x-kubernetes-list-type': 'atomic',
                description: 'Names of the programs that have to finish their work before a deleted namespace is removed.',
              },
            },
          },
          status: {
            type: 'object',
            description: 'Current state of the namespace.',
            properties: {
              phase: { type: 'string', description: 'Active, or Terminating once its deletion was requested.' },
              conditions: {
                type: 'array',
                description: 'Progress of the deletion of its contents.',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['type'],
                items: {
                  type: 'object',
                  required: ['type', 'status'],
                  properties: {
                    type: { type: 'string' },
                    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
                    lastTransitionTime: { type: 'string', format: 'date-time' },
                    reason: { type: 'string' },
                    message: { type: 'string' },
                  },
                },
              },
            },
          },
        },
      },
      columns: [
        { name: 'Status', type: 'string', path: '.status.phase', description: 'Current state of the namespace.' },
        { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
      ],
      subresources: { status: true, finalize: true },
      protobuf: {
        1: ['metadata', METADATA],
        2: ['spec', { 1: ['finalizers', 'texts'] }],
        3: ['status', { 1: ['phase', 'text'], 2: ['conditions', [CONDITION]] }],
      },
    },
  },
  strategy: { prepareForCreate, prepareForDelete, validate, canonicalize },
}) as Resource<Namespace>

function prepareForCreate(namespace: Namespace): void {
  const { finalizers = [] } = namespace.spec ?? {}
  const isThere = finalizers.includes(KUBERNETES_FINALIZER)
  namespace.spec = { ...namespace.spec, finalizers: isThere ? finalizers : [...finalizers, KUBERNETES_FINALIZER] }
  namespace.status = { phase: 'Active' }
}

/** @see kubernetes/kubernetes pkg/registry/core/namespace/storage/storage.go REST.Delete */
function prepareForDelete(namespace: Namespace): void {
  namespace.status = { ...namespace.status, phase: 'Terminating' }
}

/** @see kubernetes/kubernetes pkg/apis/core/validation/validation.go ValidateNamespace */
function validate({ metadata, spec, status }: Namespace, old: Namespace | undefined): readonly FieldError[] {
  const isEnding = metadata.deletionTimestamp !== undefined
  const phase = isEnding ? 'Terminating' : 'Active'
  return [
    ...labelProblems(metadata.name).map((problem) => fieldErrors.invalid('metadata.name', metadata.name, problem)),
    ...(spec?.finalizers ?? []).flatMap((name, at) =>
      finalizerProblems(name).map((problem) => fieldErrors.invalid(`spec.finalizers[${at}]`, name, problem)),
    ),
    ...(old !== undefined && status?.phase !== phase
      ? [
          fieldErrors.invalid(
            'status.Phase',
            status?.phase ?? '',
            `may only be '${phase}' if \`deletionTimestamp\` is ${isEnding ? 'not ' : ''}empty`,
          ),
        ]
      : []),
  ]
}

function finalizerProblems(name: string): readonly string[] {
  const problems = qualifiedNameProblems(name)
  if (problems.length > 0 || name.includes('/') || STANDARD_FINALIZERS.has(name)) return problems
  return ['name is neither a standard finalizer name nor is it fully qualified']
}

/** The label is the server's: it is what the name is. */
function canonicalize(namespace: Namespace): void {
  const { metadata, spec } = namespace
  metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name }
  namespace.spec = spec?.finalizers?.length === 0 ? {} : (spec ?? {})
}

/**
 * The core group `v1`, with namespaces, for `installLegacyApiGroup`. A server with other resources
 * of that group has `{ resource: NAMESPACES, storage }` among them.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * server.installLegacyApiGroup('/api', namespaceGroup(storageOver(store, NAMESPACES)))
 */
export const namespaceGroup = (storage: Storage): ApiGroup => apiGroup({ group: '', versions: { v1: [{ resource: NAMESPACES, storage }] } })
