import { optionError } from '../../engine.ts'
import { type Fields, isFields } from '../api-object.ts'

/** The part of JSON Schema that objects are checked by. */
export interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly nullable?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number | boolean
  readonly exclusiveMaximum?: number | boolean
  readonly multipleOf?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly examples?: unknown
  readonly $schema?: string
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
}

/** Anything that can say its JSON Schema, as zod, arktype and valibot do. */
export interface StandardJsonSchema<T = unknown> {
  readonly '~standard': {
    readonly jsonSchema: { readonly input: (options: { readonly target: string }) => object }
    readonly types?: { readonly output: T } | undefined
  }
}

const TYPES: ReadonlySet<unknown> = new Set(['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'])

const isNumber = (given: unknown): boolean => typeof given === 'number'
const isCount = (given: unknown): boolean => Number.isSafeInteger(given) && (given as number) >= 0
const isText = (given: unknown): boolean => typeof given === 'string'
const isFlag = (given: unknown): boolean => typeof given === 'boolean'
const isTexts = (given: unknown): boolean => Array.isArray(given) && given.every(isText)
const isAny = (): boolean => true
const isOneOf =
  (...words: readonly string[]) =>
  (given: unknown): boolean =>
    words.includes(given as string)

/** What each keyword can be. Others are refused: a rule that is not kept is none. */
const KEYWORDS = new Map<string, (given: unknown) => boolean>([
  ['type', (given) => [given].flat().every((each) => TYPES.has(each))],
  ['properties', isFields],
  ['required', isTexts],
  ['additionalProperties', (given) => isFlag(given) || isFields(given)],
  ['items', isFields],
  ['anyOf', Array.isArray],
  ['oneOf', Array.isArray],
  ['enum', Array.isArray],
  ['const', isAny],
  ['default', isAny],
  ['nullable', isFlag],
  ['minimum', isNumber],
  ['maximum', isNumber],
  ['exclusiveMinimum', (given) => isNumber(given) || isFlag(given)],
  ['exclusiveMaximum', (given) => isNumber(given) || isFlag(given)],
  ['multipleOf', (given) => isNumber(given) && (given as number) > 0],
  ['minLength', isCount],
  ['maxLength', isCount],
  ['pattern', isText],
  ['minItems', isCount],
  ['maxItems', isCount],
  ['uniqueItems', isFlag],
  ['minProperties', isCount],
  ['maxProperties', isCount],
  ['format', isText],
  ['title', isText],
  ['description', isText],
  ['examples', isAny],
  ['$schema', isText],
  ['x-kubernetes-preserve-unknown-fields', isFlag],
  ['x-kubernetes-int-or-string', isFlag],
  ['x-kubernetes-list-type', isOneOf('atomic', 'set', 'map')],
  ['x-kubernetes-list-map-keys', isTexts],
  ['x-kubernetes-map-type', isOneOf('atomic', 'granular')],
])

/**
 * The schema of one version of a kind, checked.
 * @throws QuiesceError ERR_OPTION_INVALID for a keyword that is not known, or a value that it
 * cannot have
 */
export function readSchema(given: JsonSchema | StandardJsonSchema, field: string): JsonSchema {
  const standard = (given as StandardJsonSchema | undefined)?.['~standard']
  const schema: unknown = standard === undefined ? given : standard.jsonSchema.input({ target: 'draft-2020-12' })
  check(schema, field)
  if (schema.type !== undefined && schema.type !== 'object') throw optionError(`${field}.type`, schema.type, '"object"')
  return schema
}

function check(given: unknown, field: string): asserts given is JsonSchema {
  if (!isFields(given)) throw optionError(field, given, 'a JSON Schema')
  for (const [keyword, value] of Object.entries(given)) {
    if (value === undefined) continue
    const allows = KEYWORDS.get(keyword)
    if (allows === undefined) throw optionError(`${field}.${keyword}`, keyword, `one of the keywords ${[...KEYWORDS.keys()].join(', ')}`)
    if (!allows(value)) throw optionError(`${field}.${keyword}`, value, 'what JSON Schema allows for it')
  }
  const keys = given['x-kubernetes-list-map-keys'] as readonly string[] | undefined
  if ((given['x-kubernetes-list-type'] === 'map') !== (keys !== undefined && keys.length > 0))
    throw optionError(
      `${field}.x-kubernetes-list-map-keys`,
      keys,
      'the names of the fields that tell items apart, for a list of the type map alone',
    )
  if (typeof given['pattern'] === 'string') checkPattern(given['pattern'], `${field}.pattern`)
  for (const [name, each] of Object.entries((given['properties'] ?? {}) as Fields)) check(each, `${field}.properties.${name}`)
  for (const name of ['items', 'additionalProperties']) if (isFields(given[name])) check(given[name], `${field}.${name}`)
  for (const name of ['anyOf', 'oneOf']) {
    const branches = (given[name] ?? []) as readonly unknown[]
    for (const [index, branch] of branches.entries()) check(branch, `${field}.${name}[${index}]`)
    if (branches.length > 0 && (given['properties'] !== undefined || given['items'] !== undefined))
      throw optionError(`${field}.${name}`, name, 'no properties or items in the same schema')
  }
}

function checkPattern(pattern: string, field: string): void {
  try {
    new RegExp(pattern, 'u')
  } catch (cause) {
    throw optionError(field, pattern, 'a regular expression', cause)
  }
}
