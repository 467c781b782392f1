import type { ApiGroup } from '../api-group.ts'
import { type Fields, isFields } from '../api-object.ts'
import { openApiDocument } from './documents.ts'
import { REFS } from './schemas.ts'

const DEFINITIONS = '#/definitions/'

/** One document for all groups, as Swagger 2.0 says it. */
export interface V2Document {
  readonly swagger: '2.0'
  readonly info: object
  readonly paths: Readonly<Record<string, Fields>>
  readonly definitions: Readonly<Record<string, Fields>>
}

/**
 * What all groups can do, in the form that older clients read: all of it in one document, without
 * what that form cannot say.
 * @see kubernetes/apiserver pkg/server/routes/openapi.go InstallV2
 */
export function openApiV2Document(groups: readonly ApiGroup[], info: object): V2Document {
  const all = groups.flatMap((group) => group.versions.map((version) => openApiDocument(group, version, info))) as readonly {
    readonly paths: Readonly<Record<string, Fields>>
    readonly components: { readonly schemas: Readonly<Record<string, Fields>> }
  }[]
  const mapped = (given: Readonly<Record<string, Fields>>, change: (each: Fields) => Fields) =>
    Object.fromEntries(Object.entries(given).map(([name, each]) => [name, change(each)]))
  return {
    swagger: '2.0',
    info,
    paths: Object.assign({}, ...all.map(({ paths }) => mapped(paths, pathItem))) as V2Document['paths'],
    definitions: Object.assign({}, ...all.map(({ components }) => mapped(components.schemas, v2Schema))) as V2Document['definitions'],
  }
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch']

function pathItem(item: Fields): Fields {
  const made: Fields = {}
  for (const method of METHODS) if (isFields(item[method])) made[method] = operation(item[method])
  if (Array.isArray(item['parameters'])) made['parameters'] = item['parameters'].map(parameter)
  return made
}

function operation({ parameters = [], requestBody, responses, ...rest }: Fields): Fields {
  const body = isFields(requestBody) ? contentOf(requestBody) : undefined
  return {
    ...rest,
    produces: ['application/json', 'application/yaml'],
    consumes: body?.types ?? ['*/*'],
    parameters: [
      ...(parameters as readonly Fields[]).map(parameter),
      ...(body === undefined ? [] : [{ name: 'body', in: 'body', required: true, schema: v2Schema(body.schema) }]),
    ],
    responses: Object.fromEntries(
      Object.entries(responses as Readonly<Record<string, Fields>>).map(([code, answer]) => [
        code,
        { description: answer['description'], schema: v2Schema(contentOf(answer).schema) },
      ]),
    ),
  }
}

/** All types of a body have the same schema. */
function contentOf({ content }: Fields): { readonly types: readonly string[]; readonly schema: Fields } {
  const entries = Object.entries(content as Readonly<Record<string, { readonly schema: Fields }>>)
  return { types: entries.map(([type]) => type), schema: entries[0]?.[1].schema ?? {} }
}

const parameter = ({ schema, ...rest }: Fields): Fields => ({ ...rest, ...(schema as Fields) })

/** What the form does not have, and what its readers do not expect of the server. */
const LEFT_OUT: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'nullable', 'default'])

/**
 * A schema that can have other fields than it names, or none, is one of which older clients are
 * told no type: they would refuse what the server takes.
 * @see kubernetes/apiextensions-apiserver pkg/controller/openapi/v2/conversion.go
 */
function v2Schema(schema: Fields): Fields {
  const ref = schema['$ref']
  if (typeof ref === 'string') return { $ref: ref.replace(REFS, DEFINITIONS) }
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true
  const isAny = schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true
  const said: Fields = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (LEFT_OUT.has(keyword)) continue
    if (keyword === 'properties') {
      if (!isOpen && !isAny)
        said[keyword] = Object.fromEntries(Object.entries(value as Record<string, Fields>).map(([name, each]) => [name, v2Schema(each)]))
    } else if (keyword === 'items' || keyword === 'additionalProperties') {
      if (!isOpen && !isAny) said[keyword] = v2Schema(value as Fields)
    } else if (keyword !== 'type' || !isAny) said[keyword] = value
  }
  // An array of anything is one of nothing to them.
  if (said['type'] === 'array' && said['items'] === undefined) delete said['type']
  return said
}
