import { readFileSync } from 'node:fs'
import { show } from '../base/errors.ts'
import { isRecord } from '../options/kit/kinds.ts'

/** The part of JSON Schema that `schema/report.schema.json` uses. */
export interface Schema {
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly oneOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: boolean | Schema
  readonly items?: Schema
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly pattern?: string
}

/** Fields that reports of 0.1.0 do not have. */
const ADDED: readonly string[] = ['forcedBy', 'budget', 'lastCall']

/** Reads a schema from a file. */
export const schemaAt = (file: URL): Schema => JSON.parse(readFileSync(file, 'utf8')) as Schema

/**
 * What the first field that does not conform has instead of what it may be: `signals[0].at: got
 * "soon", allowed: number`. More fields than the schema knows may be there, and those that were
 * added to it may be missing: reports of later and of earlier versions are readable.
 */
export const firstProblem = (schema: Schema, given: unknown): string | undefined => problem(schema, schema, given, '')

function problem(root: Schema, schema: Schema, given: unknown, path: string): string | undefined {
  const { $ref, oneOf, properties = {}, required = [], additionalProperties, items } = schema
  if ($ref !== undefined) return problem(root, root.$defs?.[$ref.replace('#/$defs/', '')] ?? {}, given, path)
  const refused = (allowed: string): string => `${path || 'the report'}: got ${show(given)}, allowed: ${allowed}`
  if (!isOfType(schema, given)) return refused(String(schema.type))
  if ('const' in schema && given !== schema.const) return refused(show(schema.const))
  if (schema.enum && !schema.enum.includes(given)) return refused(schema.enum.map(show).join(', '))
  if (typeof given === 'number' && given < (schema.minimum ?? given)) return refused(`at least ${schema.minimum}`)
  if (typeof given === 'number' && given <= (schema.exclusiveMinimum ?? Number.NaN)) return refused(`above ${schema.exclusiveMinimum}`)
  if (typeof given === 'string' && schema.pattern !== undefined && !new RegExp(schema.pattern).test(given)) return refused(schema.pattern)
  if (oneOf) return nearest(root, oneOf, given, path)
  if (Array.isArray(given) && items) return first(given.entries(), ([index, item]) => problem(root, items, item, `${path}[${index}]`))
  if (!isRecord(given)) return undefined
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`)
  const missing = required.find((name) => !Object.hasOwn(given, name) && !ADDED.includes(name))
  if (missing !== undefined) return `${at(missing)}: missing`
  const rest = typeof additionalProperties === 'object' ? additionalProperties : {}
  return first(Object.entries(given), ([name, value]) =>
    problem(root, Object.hasOwn(properties, name) ? (properties[name] ?? rest) : rest, value, at(name)),
  )
}

/** The problem of the one shape that is meant: the one whose constants hold, or the last. */
function nearest(root: Schema, shapes: readonly Schema[], given: unknown, path: string): string | undefined {
  const problems = shapes.map((shape) => problem(root, shape, given, path))
  if (problems.includes(undefined)) return undefined
  const meant = shapes.findIndex((shape) => isMeant(shape, given))
  return problems[meant < 0 ? problems.length - 1 : meant]
}

const isMeant = ({ properties }: Schema, given: unknown): boolean =>
  isRecord(given) && Object.entries(properties ?? {}).some(([name, shape]) => 'const' in shape && given[name] === shape.const)

function isOfType({ type }: Schema, given: unknown): boolean {
  if (type === undefined) return true
  const own = given === null ? 'null' : Array.isArray(given) ? 'array' : typeof given
  return [type].flat().some((one) => one === own || (one === 'integer' && Number.isInteger(given)))
}

function first<T>(all: Iterable<T>, find: (one: T) => string | undefined): string | undefined {
  for (const one of all) {
    const found = find(one)
    if (found !== undefined) return found
  }
  return undefined
}
