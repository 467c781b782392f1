import { type ApiGroup, apiGroup } from '../groups/api-group.ts'
import type { ApiObject } from '../groups/api-object.ts'
import { defineResource, type Resource } from '../groups/resource/define-resource.ts'
import type { JsonSchema } from '../groups/resource/schema.ts'
import type { Storage } from '../groups/storage/storage.ts'

/** The object that says in which version each server stores objects of one resource. */
export interface StorageVersion extends ApiObject {
  status?: StorageVersionStatus
}

export interface StorageVersionStatus {
  /** The versions of each server. */
  storageVersions?: readonly ServerStorageVersion[]
  /** The version in which all servers store; undefined: they do not agree. */
  commonEncodingVersion?: string
  conditions?: readonly StorageVersionCondition[]
}

/** Versions are written as `demo.example/v1`. */
export interface ServerStorageVersion {
  /** The name of its identity lease. */
  readonly apiServerID: string
  /** The version in which it stores objects. */
  readonly encodingVersion: string
  /** The versions in which it can read stored objects. */
  readonly decodableVersions: readonly string[]
  /** The versions that clients are served. */
  readonly servedVersions?: readonly string[]
}

export interface StorageVersionCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly observedGeneration?: number
  readonly lastTransitionTime?: string
  readonly reason: string
  readonly message: string
}

const GROUP = 'internal.apiserver.k8s.io'
const text = (description: string): JsonSchema => ({ type: 'string', description })
const texts = (description: string): JsonSchema => ({ type: 'array', items: { type: 'string' }, description })

/**
 * Objects of `internal.apiserver.k8s.io/v1alpha1`, as kube-apiserver has them.
 * @see kubernetes/api apiserverinternal/v1alpha1/types.go StorageVersion
 */
export const STORAGE_VERSIONS: Resource<StorageVersion> = defineResource({
  group: GROUP,
  kind: 'StorageVersion',
  plural: 'storageversions',
  scope: 'Cluster',
  versions: {
    v1alpha1: {
      schema: {
        type: 'object',
        description: 'In which version each server stores the objects of one resource, whose group and name it is called by.',
        properties: {
          spec: { type: 'object', description: 'Nothing.', 'x-kubernetes-preserve-unknown-fields': true },
          status: {
            type: 'object',
            description: 'What the servers say.',
            properties: {
              commonEncodingVersion: text('The version in which all servers store; left out where they do not agree.'),
              storageVersions: {
                type: 'array',
                description: 'Those of each server.',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['apiServerID'],
                items: {
                  type: 'object',
                  required: ['apiServerID', 'encodingVersion', 'decodableVersions'],
                  properties: {
                    apiServerID: text('The name of its identity lease.'),
                    encodingVersion: text('The version in which it stores objects.'),
                    decodableVersions: texts('The versions in which it can read stored objects.'),
                    servedVersions: texts('The versions that clients are served.'),
                  },
                },
              },
              conditions: {
                type: 'array',
                description: 'Whether all servers store in one version.',
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['type'],
                items: {
                  type: 'object',
                  required: ['type', 'status', 'reason'],
                  properties: {
                    type: text('AllEncodingVersionsEqual'),
                    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
                    observedGeneration: { type: 'integer' },
                    lastTransitionTime: { type: 'string', format: 'date-time' },
                    reason: text('In one word.'),
                    message: text('In a sentence.'),
                  },
                },
              },
            },
          },
        },
      },
      subresources: { status: true },
      columns: [
        { name: 'CommonEncodingVersion', type: 'string', path: '.status.commonEncodingVersion' },
        { name: 'Age', type: 'date', path: '.metadata.creationTimestamp' },
      ],
    },
  },
}) as unknown as Resource<StorageVersion>

/**
 * The group `internal.apiserver.k8s.io`, for `installApiGroups`: which server stores what in which
 * version.
 * @param storage one that all servers share which are to know of each other
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * server.installApiGroups(storageVersionGroup(storageOver(store, STORAGE_VERSIONS)))
 */
export const storageVersionGroup = (storage: Storage): ApiGroup =>
  apiGroup({ group: GROUP, versions: { v1alpha1: [{ resource: STORAGE_VERSIONS, storage }] } })
