import { checkArguments, checkFields, misspeltFieldOf, optionError, show, withOptions } from '../../engine.ts'
import { labelProblems, subdomainProblems } from '../../names.ts'
import type { ApiObject, ObjectMeta } from '../api-object.ts'
import type { MessageShape } from '../protobuf/read-message.ts'
import { type JsonSchema, readSchema, type StandardJsonSchema } from './schema.ts'
import { STRATEGY_FIELDS, type Strategy } from './strategy.ts'

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

export type AnySchema = JsonSchema | StandardJsonSchema

/** What an object of a schema is, as far as the schema says so. */
export type ObjectOf<S> = S extends StandardJsonSchema<infer T> ? ApiObject & T : ApiObject

/**
 * What is made of an object for another version: its own fields. Its kind and version are set by
 * the server. Of metadata, labels and annotations are taken; the rest stays as it was, and so does
 * all of it where it is left out.
 */
export type Converted<S> =
  S extends StandardJsonSchema<infer T> ? (unknown extends T ? object : T & { readonly metadata?: ObjectMeta }) : object

/**
 * Makes objects of one version from those of the hub, and those of the hub from them. What these
 * functions are given is theirs: they may change it and return it. They take no time, and make the
 * same of the same object whenever they are called.
 */
export interface Conversion<S = AnySchema, Hub = AnySchema> {
  readonly toHub: (object: ObjectOf<S>) => Converted<Hub>
  readonly fromHub: (object: ObjectOf<Hub>) => Converted<S>
}

export interface VersionDefinition<S extends AnySchema = AnySchema, Hub extends AnySchema = AnySchema> {
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
  /**
   * How clients that have the kind compiled in send an object: `kubectl create`, and typed clients
   * of client-go. Such clients also send strategic merge patches.
   */
  readonly protobuf?: MessageShape
  /** What the kind does by itself with objects of this version. Default: that of the kind. */
  readonly strategy?: Strategy<ObjectOf<S>>
  /** How it becomes the hub, and is made of it; every version but the hub has it. */
  readonly convert?: Conversion<S, Hub>
}

/** Schemas by version. */
export type Schemas = Readonly<Record<string, AnySchema>>

export interface ResourceDefinition<V extends Schemas = Schemas, Hub extends keyof V = keyof V> {
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
  /** The versions by name. */
  readonly versions: { readonly [Version in keyof V]: VersionDefinition<V[Version], V[Hub]> }
  /** The version that all others are converted to and from. Default: the only one. */
  readonly hub?: Hub
  /**
   * The version in which objects are stored from now on; those that are stored in another one stay
   * so until they are written again. Default: the hub.
   */
  readonly storageVersion?: keyof V
  /** The strategy of the versions that have none of their own. */
  readonly strategy?: Strategy<ObjectOf<V[keyof V]>>
}

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
  /** How it becomes the hub, and is made of it; undefined: it is the hub. */
  readonly convert: Conversion | undefined
  /** All versions of the kind by name, this one among them. */
  readonly versions: Readonly<Record<string, Resource>>
  /** The version that all others are converted to and from. */
  readonly hub: string
  /** The version in which objects are stored. */
  readonly storageVersion: string
}

/** The hub of a kind, with all of its versions, by the objects of each. */
export type DefinedResource<Objects extends Readonly<Record<string, ApiObject>>, Hub extends keyof Objects> = Resource<Objects[Hub]> & {
  readonly versions: { readonly [Version in keyof Objects]: Resource<Objects[Version]> }
}

const DEFINITION = withOptions<ResourceDefinition>(
  'group',
  'kind',
  'plural',
  'singular',
  'listKind',
  'shortNames',
  'categories',
  'scope',
  'versions',
  'hub',
  'storageVersion',
  'strategy',
)
const VERSION_FIELDS: readonly (keyof VersionDefinition)[] = ['schema', 'columns', 'subresources', 'protobuf', 'strategy', 'convert']
const SUBRESOURCES: readonly (keyof NonNullable<VersionDefinition['subresources']>)[] = ['status', 'scale', 'finalize']
const SCALE_PATHS: readonly (keyof ScalePaths)[] = ['specReplicasPath', 'statusReplicasPath', 'labelSelectorPath']
const COLUMN_FIELDS: readonly (keyof Column)[] = ['name', 'type', 'path', 'format', 'description', 'priority']
const CONVERSIONS: readonly (keyof Conversion)[] = ['toHub', 'fromHub']

const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/
/** What stands in the place of a resource in paths, and is none. */
const RESERVED: ReadonlySet<string> = new Set(['status', 'finalize', 'watch', 'proxy'])

/** `demo.example/v1`; the group without a name has none in front. */
export const groupVersion = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)

/**
 * A resource as a value, for {@link apiGroup}. Its schema is JSON Schema, or anything that
 * implements Standard JSON Schema. What is returned is its hub, which is its only version where
 * there is one; `versions` has all of them.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @example
 * const widgets = defineResource({
 *   group: 'demo.example', kind: 'Widget', plural: 'widgets', scope: 'Namespaced',
 *   versions: { v1: { schema: { type: 'object', properties: { spec: { type: 'object' } } } } },
 * })
 */
export function defineResource<V extends Schemas, Hub extends keyof V = keyof V>(
  definition: ResourceDefinition<V, Hub>,
): DefinedResource<{ [Version in keyof V]: ObjectOf<V[Version]> }, Hub> {
  checkArguments('defineResource(definition)', [definition, DEFINITION])
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
  const given = versions as unknown as Readonly<Record<string, VersionDefinition>>
  const { hub, storageVersion } = checkVersions({ versions: given, hub: definition.hub, storageVersion: definition.storageVersion }, of)
  const all: Record<string, Resource> = {}
  for (const [version, served] of Object.entries(given)) {
    const ofVersion = Object.keys(given).length === 1 ? of : `version ${version} of ${of}`
    const { subresources = {}, strategy: ofVersionOnly = strategy } = served
    checkFields(`subresources of ${ofVersion}`, subresources, SUBRESOURCES)
    for (const field of ['status', 'finalize'] as const)
      if (typeof (subresources[field] ?? false) !== 'boolean')
        throw optionError(`${field} of subresources of ${ofVersion}`, subresources[field], 'true or false')
    checkSpelling(`strategy of ${ofVersion}`, ofVersionOnly, STRATEGY_FIELDS)
    all[version] = {
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
      schema: readSchema(served.schema, `schema of ${ofVersion}`),
      columns: checkColumns(served.columns, ofVersion),
      hasStatus: subresources.status === true,
      hasFinalize: subresources.finalize === true,
      scale: checkScale(subresources.scale, ofVersion),
      protobuf: served.protobuf,
      strategy: ofVersionOnly as Strategy,
      convert: served.convert,
      versions: all,
      hub,
      storageVersion,
    }
  }
  return all[hub] as never
}

/** Of what the user implements, which may have fields of its own. */
function checkSpelling(of: string, given: object, known: readonly string[]): void {
  const wrong = misspeltFieldOf(given, known)
  if (wrong !== undefined) throw optionError(`${of}${wrong.path}`, wrong.given, `one of ${wrong.allowed}`)
}

const VERSION = /^v[1-9]\d*(?:(?:alpha|beta)[1-9]\d*)?$/

interface GivenVersions {
  readonly versions: Readonly<Record<string, VersionDefinition>> | undefined
  readonly hub: unknown
  readonly storageVersion: unknown
}

/**
 * Which of the versions is the hub, and in which objects are stored.
 * @throws QuiesceError ERR_OPTION_INVALID
 */
function checkVersions({ versions = {}, hub, storageVersion }: GivenVersions, of: string): { hub: string; storageVersion: string } {
  const names = Object.keys(versions)
  if (names.length === 0 || names.some((name) => !VERSION.test(name)))
    throw optionError(`versions of ${of}`, names, 'at least one version, such as v1 or v1beta1')
  const theHub = hub ?? (names.length === 1 ? names[0] : undefined)
  const oneOf = names.map(show).join(' or ')
  if (typeof theHub !== 'string' || !names.includes(theHub))
    throw optionError(`hub of ${of}`, hub, `${oneOf}: the one that the others are converted to and from`)
  const stored = storageVersion ?? theHub
  if (typeof stored !== 'string' || !names.includes(stored)) throw optionError(`storageVersion of ${of}`, storageVersion, oneOf)
  for (const [name, definition] of Object.entries(versions)) {
    if (typeof definition !== 'object' || definition === null)
      throw optionError(`version ${name} of ${of}`, definition, 'an object with a schema')
    checkFields(`version ${name} of ${of}`, definition, VERSION_FIELDS)
    const { convert } = definition as { readonly convert?: { readonly toHub?: unknown; readonly fromHub?: unknown } | undefined }
    const field = `convert of version ${name} of ${of}`
    if (name === theHub) {
      if (convert !== undefined) throw optionError(field, convert, 'nothing: it is the hub')
    } else if (typeof convert?.toHub !== 'function' || typeof convert.fromHub !== 'function')
      throw optionError(field, convert, '{ toHub, fromHub }: functions that convert to the hub and back')
    else checkSpelling(field, convert, CONVERSIONS)
  }
  return { hub: theHub, storageVersion: stored }
}

const PATH = /^(?:\.[A-Za-z_][\w-]*)+$/

function checkScale(scale: ScalePaths | undefined, of: string): ScalePaths | undefined {
  if (scale === undefined) return undefined
  checkFields(`scale of ${of}`, scale, SCALE_PATHS)
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
  for (const column of columns ?? []) {
    const { name, path } = checkFields(`columns of ${of}`, column, COLUMN_FIELDS)
    if (typeof name !== 'string' || name === '' || typeof path !== 'string' || !PATH.test(path))
      throw optionError(`columns of ${of}`, { name, path }, 'a name, and a path such as .spec.size')
  }
  return columns
}
