import type { ServerStorageVersion, StorageVersion, StorageVersionCondition, StorageVersionStatus } from './storage-version.ts'

const ALL_EQUAL = 'AllEncodingVersionsEqual'

/**
 * What a StorageVersion says once a server has said its part.
 * @param at the time, as the API writes it
 * @see kubernetes/apiserver pkg/storageversion/updater.go localUpdateStorageVersion
 */
export function withServer(object: StorageVersion, entry: ServerStorageVersion, at: string): StorageVersionStatus {
  const { storageVersions = [] } = object.status ?? {}
  const isKnown = storageVersions.some(({ apiServerID }) => apiServerID === entry.apiServerID)
  const all = isKnown ? storageVersions.map((each) => (each.apiServerID === entry.apiServerID ? entry : each)) : [...storageVersions, entry]
  return agreed(object, all, at)
}

/** What it says without some servers; undefined: no server is left. */
export function withoutServers(object: StorageVersion, gone: (id: string) => boolean, at: string): StorageVersionStatus | undefined {
  const left = (object.status?.storageVersions ?? []).filter(({ apiServerID }) => !gone(apiServerID))
  return left.length === 0 ? undefined : agreed(object, left, at)
}

/** @see kubernetes/apiserver pkg/storageversion/updater.go SetCommonEncodingVersion */
function agreed(
  { status = {}, metadata }: StorageVersion,
  storageVersions: readonly ServerStorageVersion[],
  at: string,
): StorageVersionStatus {
  const { conditions = [], commonEncodingVersion: before } = status
  const [first] = storageVersions
  const common = storageVersions.every(({ encodingVersion }) => encodingVersion === first?.encodingVersion)
    ? first?.encodingVersion
    : undefined
  const known = conditions.find(({ type }) => type === ALL_EQUAL)
  const isTrue = common === undefined ? 'False' : 'True'
  const isOther = known?.status !== isTrue || (before !== undefined && common !== undefined && before !== common)
  const condition: StorageVersionCondition = {
    type: ALL_EQUAL,
    status: isTrue,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    lastTransitionTime: isOther ? at : (known.lastTransitionTime ?? at),
    reason: common === undefined ? 'CommonEncodingVersionUnset' : 'CommonEncodingVersionSet',
    message: common === undefined ? 'Common encoding version unset' : 'Common encoding version set',
  }
  return {
    storageVersions,
    ...(common !== undefined && { commonEncodingVersion: common }),
    conditions: known === undefined ? [...conditions, condition] : conditions.map((each) => (each === known ? condition : each)),
  }
}
