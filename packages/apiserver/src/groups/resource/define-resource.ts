import { checkArguments, optionError, show } from '../../engine.ts'
import { labelProblems, subdomainProblems } from '../../names.ts'
import type { ApiObject } from '../api-object.ts'
import type { MessageShape } from '../protobuf/read-message.ts'
import { type JsonSchema, readSchema, type StandardJsonSchema } from './schema.ts'
import type { Strategy } from './strategy.ts'

/** A further column of what `kubectl get` prints. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `.spec.size`; a date is shown as how long ago it was. */
  readonly path: string
  readonly format?: string
  readonly description?: string
  /** Above 0: only with `-o wide`. Default 0. */
  readonly priority?: number
}

/** Where an object has what its scale says. */
export interface ScalePaths {
  /** `.spec.replicas` */
  readonly specReplicasPath: string
  /** `.status.replicas` */
  readonly statusReplicasPath: string
  /** `.status.selector`: a text that selects what is counted. */
  readonly labelSelectorPath?: string
}

export interface VersionDefinition<S extends JsonSchema | StandardJsonSchema = JsonSchema | StandardJsonSchema> {
  /** The schema of the object's own fields; `apiVersion`, `kind` and `metadata` are known. */
  readonly schema: S
  /** The columns behind the name. Default: when it was created. */
  readonly columns?: readonly Column[]
  readonly subresources?: {
    readonly status?: boolean
    readonly scale?: ScalePaths
    /**
     * Whether `spec.finalizers` keeps an object that is being deleted until it is empty. They are
     * changed by `PUT` of `/finalize` alone, and such a kind has no deletion of a whole collection.
     */
    readonly finalize?: boolean
  }
  /** How clients of compiled kinds may send an object that is to be created. */
  readonly protobuf?: MessageShape
}

export interface ResourceDefinition<S extends JsonSchema | StandardJsonSchema = JsonSchema | StandardJsonSchema> {
  /** Empty for the group without a name, under `/api`. */
  readonly group: string
  readonly kind: string
  readonly plural: string
  /** Default: the kind in lower case. */
  readonly singular?: string
  /** Default: the kind and `List`. */
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  /** The versions by name, of which there is one: objects are not converted between versions. */
  readonly versions: Readonly<Record<string, VersionDefinition<S>>>
  readonly strategy?: Strategy<ObjectOf<S>>
}

/** What an object of a schema is, as far as the schema says so. */
export type ObjectOf<S> = S extends StandardJsonSchema<infer T> ? ApiObject & T : ApiObject

/** A kind of objects, and where they are served. */
export interface Resource<T extends ApiObject = ApiObject> {
  readonly group: string
  readonly version: string
  /** `demo.example/v1`, or `v1`. */
  readonly apiVersion: string
  readonly kind: string
  readonly listKind: string
  readonly plural: string
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly isNamespaced: boolean
  readonly schema: JsonSchema
  readonly columns: readonly Column[] | undefined
  readonly hasStatus: boolean
  readonly hasFinalize: boolean
  /** Undefined: it cannot be scaled. */
  readonly scale: ScalePaths | undefined
  readonly protobuf: MessageShape | undefined
  readonly strategy: Strategy<T>
}

const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/
const VERSION = /^v[1-9]\d*(?:(?:alpha|beta)[1-9]\d*)?$/
/** What stands in the place of a resource in paths, and is none. */
const RESERVED: ReadonlySet<string> = new Set(['status', 'finalize', 'watch', 'proxy'])

/** `demo.example/v1`; the group without a name has none in front. */
export const groupVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

/**
 * A resource as a value, for {@link apiGroup}. Its schema is JSON Schema, or anything that
 * implements Standard JSON Schema.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const widgets = defineResource({
 *   group: 'demo.example', kind: 'Widget', plural: 'widgets', scope: 'Namespaced',
 *   versions: { v1: { schema: { type: 'object', properties: { spec: { type: 'object' } } } } },
 * })
 */
export function defineResource<S extends JsonSchema | StandardJsonSchema>(definition: ResourceDefinition<S>): Resource<ObjectOf<S>> {
  checkArguments('defineResource(definition)', [definition, 'an object'])
  const { group, kind, plural, scope, versions, shortNames = [], categories = [], strategy = {} } = definition
  if (typeof group !== 'string' || (group !== '' && subdomainProblems(group).length > 0))
    throw optionError('group', group, 'a domain name in lower case, or empty')
  if (typeof kind !== 'string' || !KIND.test(kind)) throw optionError('kind', kind, 'a word that begins with an upper-case letter')
  const of = `resource ${show(plural)}`
  for (const [field, given] of [['plural', plural] as const, ['singular', definition.singular ?? kind.toLowerCase()] as const])
    if (typeof given !== 'string' || labelProblems(given).length > 0 || RESERVED.has(given))
      throw optionError(`${field} of ${of}`, given, `a word in lower case, but for ${[...RESERVED].join(', ')}`)
  if (scope !== 'Namespaced' && scope !== 'Cluster') throw optionError(`scope of ${of}`, scope, '"Namespaced" or "Cluster"')
  if (plural === 'namespaces' && scope !== 'Cluster') throw optionError(`scope of ${of}`, scope, '"Cluster"')
  for (const [field, names] of Object.entries({ shortNames, categories }))
    if (!Array.isArray(names) || names.some((name) => typeof name !== 'string' || labelProblems(name).length > 0))
      throw optionError(`${field} of ${of}`, names, 'words in lower case')
  const [[version, served] = [undefined, undefined], ...others] = Object.entries(versions ?? {})
  if (version === undefined || served === undefined || others.length > 0 || !VERSION.test(version))
    throw optionError(`versions of ${of}`, Object.keys(versions ?? {}), 'one version, such as v1 or v1beta1')
  return {
    group,
    version,
    apiVersion: groupVersion(group, version),
    kind,
    listKind: definition.listKind ?? `${kind}List`,
    plural,
    singular: definition.singular ?? kind.toLowerCase(),
    shortNames,
    categories,
    isNamespaced: scope === 'Namespaced',
    schema: readSchema(served.schema, `schema of ${of}`),
    columns: checkColumns(served.columns, of),
    hasStatus: served.subresources?.status === true,
    hasFinalize: served.subresources?.finalize === true,
    scale: checkScale(served.subresources?.scale, of),
    protobuf: served.protobuf,
    strategy,
  }
}

const PATH = /^(?:\.[A-Za-z_][\w-]*)+$/

function checkScale(scale: ScalePaths | undefined, of: string): ScalePaths | undefined {
  if (scale === undefined) return undefined
  const { specReplicasPath: spec, statusReplicasPath: status, labelSelectorPath: selector = '.status.selector' } = scale
  for (const [field, path, begins] of [
    ['specReplicasPath', spec, /^\.spec\./],
    ['statusReplicasPath', status, /^\.status\./],
    ['labelSelectorPath', selector, /^\.(?:spec|status)\./],
  ] as const)
    if (typeof path !== 'string' || !PATH.test(path) || !begins.test(path))
      throw optionError(`scale.${field} of ${of}`, path, `a path below ${field === 'specReplicasPath' ? '.spec' : '.status'}`)
  return scale
}

function checkColumns(columns: readonly Column[] | undefined, of: string): readonly Column[] | undefined {
  for (const { name, path } of columns ?? [])
    if (typeof name !== 'string' || name === '' || typeof path !== 'string' || !PATH.test(path))
      throw optionError(`columns of ${of}`, { name, path }, 'a name, and a path such as .spec.size')
  return columns
}
