import { createHash } from 'node:crypto'
import { type ApiGroup, type ApiVersion, type ResourceStorage, verbsOfResource } from '../api-group.ts'
import { groupVersion } from '../resource/define-resource.ts'

const PART_VERBS = new Set(['get', 'patch', 'update'])

/** A part of an object that has a path of its own. */
interface Part {
  readonly name: 'finalize' | 'scale' | 'status'
  /** Undefined: that of the object. */
  readonly ofKind: { readonly group: string; readonly version: string; readonly kind: string } | undefined
  readonly verbs: readonly string[]
}

/** The parts in the order of their names. */
function partsOf(served: ResourceStorage): readonly Part[] {
  const { resource } = served
  const verbs = verbsOfResource(served).filter((verb) => PART_VERBS.has(verb))
  const parts: Part[] = []
  if (resource.hasFinalize) parts.push({ name: 'finalize', ofKind: undefined, verbs: verbs.filter((verb) => verb === 'update') })
  if (resource.scale !== undefined) parts.push({ name: 'scale', ofKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' }, verbs })
  if (resource.hasStatus) parts.push({ name: 'status', ofKind: undefined, verbs })
  return parts
}

/** Where a server can be reached, for clients of all addresses. */
const addresses = (serverAddress: string) => [{ clientCIDR: '0.0.0.0/0', serverAddress }]

const versionOf = ({ group }: ApiGroup, { version }: ApiVersion) => ({ groupVersion: groupVersion(group, version), version })

const groupOf = (group: ApiGroup) => ({
  name: group.group,
  versions: group.versions.map((each) => versionOf(group, each)),
  preferredVersion: versionOf(group, group.versions[0] as ApiVersion),
})

/** `/api` @see kubernetes/apiserver pkg/endpoints/discovery/legacy.go */
export const apiVersions = ({ versions }: ApiGroup, serverAddress: string): object => ({
  kind: 'APIVersions',
  versions: versions.map(({ version }) => version),
  serverAddressByClientCIDRs: addresses(serverAddress),
})

/** `/apis` @see kubernetes/apiserver pkg/endpoints/discovery/root.go */
export const apiGroupList = (groups: readonly ApiGroup[], serverAddress: string): object => ({
  kind: 'APIGroupList',
  groups: groups.map((group) => ({ ...groupOf(group), serverAddressByClientCIDRs: addresses(serverAddress) })),
})

/** `/apis/GROUP` @see kubernetes/apiserver pkg/endpoints/discovery/group.go */
export const apiGroupDocument = (group: ApiGroup): object => ({ kind: 'APIGroup', apiVersion: 'v1', ...groupOf(group) })

/** `/apis/GROUP/VERSION` @see kubernetes/apiserver pkg/endpoints/discovery/version.go */
export const apiResourceList = ({ group }: ApiGroup, { version, resources }: ApiVersion): object => ({
  kind: 'APIResourceList',
  // As upstream, which keeps it for clients of old.
  ...(group !== '' && { apiVersion: 'v1' }),
  groupVersion: groupVersion(group, version),
  resources: resources.flatMap((served) => {
    const { plural, singular, isNamespaced, kind, shortNames, categories, storageVersion } = served.resource
    const resource = {
      name: plural,
      singularName: singular,
      namespaced: isNamespaced,
      kind,
      verbs: verbsOfResource(served),
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
      storageVersionHash: storageVersionHash(group, storageVersion, kind),
    }
    const parts = partsOf(served).map(({ name, ofKind = { kind }, verbs }) => ({
      name: `${plural}/${name}`,
      singularName: '',
      namespaced: isNamespaced,
      ...ofKind,
      verbs,
    }))
    return [resource, ...parts]
  }),
})

/**
 * The same in all versions of a kind; another one tells clients that objects are stored otherwise.
 * @see kubernetes/apiserver pkg/endpoints/discovery/storageversionhash.go
 */
export const storageVersionHash = (group: string, version: string, kind: string): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, 8).toString('base64')

/** The list of both roots: all groups with all of their resources. */
export interface AggregatedList {
  readonly metadata: object
  readonly items: readonly object[]
}

/**
 * All groups at once, by name.
 * @see kubernetes/apiserver pkg/endpoints/discovery/aggregated/handler.go
 */
export const aggregatedList = (groups: readonly ApiGroup[]): AggregatedList => ({
  metadata: {},
  items: [...groups].sort((a, b) => (a.group < b.group ? -1 : 1)).map(aggregatedGroup),
})

const aggregatedGroup = ({ group, versions }: ApiGroup) => ({
  metadata: group === '' ? {} : { name: group },
  versions: versions.map(({ version, resources }) => ({
    version,
    resources: resources.map((served) => {
      const { plural, singular, isNamespaced, kind, shortNames, categories } = served.resource
      const responseKind = { group, version, kind }
      const parts = partsOf(served)
      return {
        resource: plural,
        responseKind,
        scope: isNamespaced ? 'Namespaced' : 'Cluster',
        singularResource: singular,
        verbs: verbsOfResource(served),
        ...(shortNames.length > 0 && { shortNames }),
        ...(categories.length > 0 && { categories }),
        ...(parts.length > 0 && {
          subresources: parts.map(({ name, ofKind = responseKind, verbs }) => ({ subresource: name, responseKind: ofKind, verbs })),
        }),
      }
    }),
    freshness: 'Current',
  })),
})
