import { checkArguments, checkFields, optionError, show, withOptions } from '../engine.ts'
import type { Resource } from './resource/define-resource.ts'
import { type Storage, verbsOf } from './storage/storage.ts'

/** A resource, and where its objects are. */
export interface ResourceStorage {
  /** Any version of its kind: where it is installed says which one is served. */
  readonly resource: Resource
  /** The storage of all versions of its kind. */
  readonly storage: Storage
}

export interface ApiGroupDefinition {
  /** Empty for the group without a name, which is installed under `/api`. */
  readonly group: string
  /** Resources by version; the first version is the preferred one. */
  readonly versions: Readonly<Record<string, readonly ResourceStorage[]>>
}

/** What clients can do with a resource, sorted. */
export const verbsOfResource = ({ resource, storage }: ResourceStorage): readonly string[] =>
  verbsOf(storage).filter((verb) => !(resource.hasFinalize && verb === 'deletecollection'))

/** One version of a group, with its resources in the order of their names. */
export interface ApiVersion {
  readonly version: string
  readonly resources: readonly ResourceStorage[]
}

/** A group of resources that is installed together. */
export interface ApiGroup {
  readonly group: string
  /** The most preferred first; there is at least one. */
  readonly versions: readonly ApiVersion[]
  /** The groups that had no resources. */
  readonly skipped?: readonly string[]
}

/**
 * A group as a value, for `installApiGroups` of a server. Versions without resources are left out,
 * and the server warns of them.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @see kubernetes/apiserver pkg/server/genericapiserver.go APIGroupInfo
 */
export function apiGroup(definition: ApiGroupDefinition): ApiGroup {
  checkArguments('apiGroup(definition)', [definition, withOptions<ApiGroupDefinition>('group', 'versions')])
  const { group, versions } = definition
  if (typeof group !== 'string') throw optionError('group of apiGroup()', group, 'a text')
  const named = `group ${show(group)}`
  const all = Object.entries(versions ?? {}).map(([version, resources]): ApiVersion => {
    if (!Array.isArray(resources)) throw optionError(`${version} of ${named}`, resources, 'a list of { resource, storage }')
    const served = (resources as readonly ResourceStorage[]).map((each) => inVersion(each, group, version))
    const sorted = served.sort((a, b) => (a.resource.plural < b.resource.plural ? -1 : 1))
    const twice = sorted.find(({ resource }, index) => sorted[index + 1]?.resource.plural === resource.plural)
    if (twice !== undefined) throw optionError(`${version} of ${named}`, twice.resource.plural, 'each resource once')
    return { version, resources: sorted }
  })
  refuseSeveralStorages(all)
  const skipped = all.filter(({ resources }) => resources.length === 0).map(({ version }) => version)
  return { group, versions: all.filter(({ resources }) => resources.length > 0), ...(skipped.length > 0 && { skipped }) }
}

/** What is written as one version of a kind is read as the others: all are in one place. */
function refuseSeveralStorages(versions: readonly ApiVersion[]): void {
  const served = versions.flatMap(({ resources }) => resources)
  for (const { resource, storage } of served) {
    const other = served.find((each) => each.resource.versions === resource.versions && each.storage !== storage)
    if (other === undefined) continue
    const of = `${resource.apiVersion} and ${other.resource.apiVersion}`
    throw optionError(
      `storage of resource ${show(resource.plural)}`,
      `a different one in each of ${of}`,
      'the same in all versions of the kind',
    )
  }
}

const SERVED_FIELDS: readonly (keyof ResourceStorage)[] = ['resource', 'storage']

/** The resource as the version has it. */
function inVersion(item: ResourceStorage, group: string, version: string): ResourceStorage {
  const { resource: given, storage } = checkFields(`${version} of group ${show(group)}`, item, SERVED_FIELDS)
  const of = `resource ${show(given?.plural)}`
  if (given?.group !== group) throw optionError(`group of ${of}`, given?.group, show(group))
  const { [version]: known } = given.versions
  const resource = given.version === version ? given : known
  if (resource === undefined) throw optionError(`version of ${of}`, version, Object.keys(given.versions).map(show).join(' or '))
  if (typeof storage !== 'object' || storage === null || verbsOf(storage).length === 0)
    throw optionError(`storage of ${of}`, storage, 'an object with get, list, create, update, delete or watch')
  return { resource, storage }
}
