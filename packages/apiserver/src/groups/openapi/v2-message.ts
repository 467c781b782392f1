import { type Fields, isFields } from '../api-object.ts'
import { type WrittenShape, writeMessage } from '../protobuf/write-message.ts'
import type { V2Document } from './v2-document.ts'

/**
 * The document as `kubectl` reads it. Its fields have the names of the document, and the numbers of
 * the message; what stands in it by a name of its own is a list of pairs of name and value.
 * @see google/gnostic-models openapiv2/OpenAPIv2.proto
 */
export const openApiV2Message = ({ paths, definitions, ...document }: V2Document): Buffer =>
  writeMessage(
    {
      ...document,
      paths: { path: pairs(paths, (item) => ({ ...item, ...withParameters(item), ...withOperations(item) })) },
      definitions: { additional_properties: pairs(definitions, schemaOf) },
    },
    DOCUMENT,
  )

const pairs = (given: Readonly<Record<string, unknown>>, of: (each: Fields) => Fields): readonly Fields[] =>
  Object.entries(given).map(([name, value]) => ({ name, value: of(value as Fields) }))

/** A value of any kind as a text; JSON is YAML. */
const any = (value: unknown): Fields => ({ yaml: JSON.stringify(value) })

const extensionsOf = (given: Fields): Fields => ({
  vendor_extension: Object.entries(given)
    .filter(([name]) => name.startsWith('x-'))
    .map(([name, value]) => ({ name, value: any(value) })),
})

function withOperations(item: Fields): Fields {
  const made: Fields = {}
  for (const [method, given] of Object.entries(item)) if (isFields(given)) made[method] = operationOf(given)
  return made
}

const operationOf = (given: Fields): Fields => ({
  ...given,
  ...extensionsOf(given),
  ...withParameters(given),
  responses: {
    response_code: pairs(given['responses'] as Fields, ({ description, schema }) => ({
      response: { description, schema: { schema: schemaOf(schema as Fields) } },
    })),
  },
})

const withParameters = ({ parameters = [] }: Fields): Fields => ({
  parameters: (parameters as readonly Fields[]).map((each) => ({ parameter: parameterOf(each) })),
})

function parameterOf(given: Fields): Fields {
  if (given['in'] === 'body') return { body_parameter: { ...given, schema: schemaOf(given['schema'] as Fields) } }
  return { non_body_parameter: given['in'] === 'path' ? { path_parameter: given } : { query_parameter: given } }
}

function schemaOf(given: Fields): Fields {
  const { $ref, type, items, properties, additionalProperties, enum: values } = given
  return {
    ...given,
    ...extensionsOf(given),
    ...($ref !== undefined && { _ref: $ref }),
    ...(type !== undefined && { type: { value: [type] } }),
    ...(isFields(items) && { items: { schema: [schemaOf(items)] } }),
    ...(isFields(properties) && { properties: { additional_properties: pairs(properties, schemaOf) } }),
    ...(isFields(additionalProperties) && { additionalProperties: { schema: schemaOf(additionalProperties) } }),
    ...(Array.isArray(values) && { enum: values.map(any) }),
  }
}

const ANY: WrittenShape = { yaml: [2, 'text'] }
const EXTENSIONS = (): WrittenShape => ({ name: [1, 'text'], value: [2, () => ANY] })
const named = (of: () => WrittenShape) => (): WrittenShape => ({ name: [1, 'text'], value: [2, of] })

const SCHEMA: WrittenShape = {
  _ref: [1, 'text'],
  format: [2, 'text'],
  title: [3, 'text'],
  description: [4, 'text'],
  multipleOf: [6, 'double'],
  maximum: [7, 'double'],
  exclusiveMaximum: [8, 'flag'],
  minimum: [9, 'double'],
  exclusiveMinimum: [10, 'flag'],
  maxLength: [11, 'whole'],
  minLength: [12, 'whole'],
  pattern: [13, 'text'],
  maxItems: [14, 'whole'],
  minItems: [15, 'whole'],
  uniqueItems: [16, 'flag'],
  maxProperties: [17, 'whole'],
  minProperties: [18, 'whole'],
  required: [19, 'text'],
  enum: [20, () => ANY],
  additionalProperties: [21, () => ({ schema: [1, () => SCHEMA] })],
  type: [22, () => ({ value: [1, 'text'] })],
  items: [23, () => ({ schema: [1, () => SCHEMA] })],
  properties: [25, () => ({ additional_properties: [1, named(() => SCHEMA)] })],
  vendor_extension: [31, EXTENSIONS],
}

const IN_PATH: WrittenShape = { required: [1, 'flag'], in: [2, 'text'], name: [4, 'text'], type: [5, 'text'] }
const IN_QUERY: WrittenShape = { required: [1, 'flag'], in: [2, 'text'], name: [4, 'text'], type: [6, 'text'] }
const IN_BODY: WrittenShape = { name: [2, 'text'], in: [3, 'text'], required: [4, 'flag'], schema: [5, () => SCHEMA] }

const PARAMETER = (): WrittenShape => ({
  parameter: [
    1,
    () => ({
      body_parameter: [1, () => IN_BODY],
      non_body_parameter: [2, () => ({ query_parameter: [3, () => IN_QUERY], path_parameter: [4, () => IN_PATH] })],
    }),
  ],
})

const RESPONSE: WrittenShape = {
  response: [1, () => ({ description: [1, 'text'], schema: [2, () => ({ schema: [1, () => SCHEMA] })] })],
}

const OPERATION = (): WrittenShape => ({
  operationId: [5, 'text'],
  produces: [6, 'text'],
  consumes: [7, 'text'],
  parameters: [8, PARAMETER],
  responses: [9, () => ({ response_code: [1, named(() => RESPONSE)] })],
  vendor_extension: [13, EXTENSIONS],
})

const PATH: WrittenShape = {
  get: [2, OPERATION],
  put: [3, OPERATION],
  post: [4, OPERATION],
  delete: [5, OPERATION],
  patch: [8, OPERATION],
  parameters: [9, PARAMETER],
}

const DOCUMENT: WrittenShape = {
  swagger: [1, 'text'],
  info: [2, () => ({ title: [1, 'text'], version: [2, 'text'] })],
  paths: [8, () => ({ path: [2, named(() => PATH)] })],
  definitions: [9, () => ({ additional_properties: [1, named(() => SCHEMA)] })],
}
