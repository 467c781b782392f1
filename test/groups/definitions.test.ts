// What kinds, groups, filters and plugins are defined with. Fails when: a field that there is not
// is passed over, at any depth, so that what was meant by it is missing without a word.
import { describe, expect, test } from 'vitest'
import { apiGroup, completeConfig, defineResource, etcdEngine, memoryStorage } from '#apiserver/index.ts'
import { isPlain } from '#src/base/records.ts'
import { widgets } from './widgets.ts'

const nothing = () => {}
const schema = { type: 'object' }
const strategy = { validate: () => [] }

/** Everything that can be said of a kind. */
const KIND = {
  group: 'demo.example',
  kind: 'Fleet',
  plural: 'fleets',
  scope: 'Namespaced',
  hub: 'v1',
  strategy,
  versions: {
    v1: {
      schema,
      columns: [{ name: 'Size', type: 'integer', path: '.spec.size' }],
      subresources: { status: true, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
    },
    v1beta1: { schema, strategy, convert: { toHub: nothing, fromHub: nothing } },
  },
}

/** By function: what it is given. */
const DEFINITIONS: Readonly<Record<string, { readonly make: (given: never) => unknown; readonly given: object }>> = {
  'defineResource()': { make: defineResource, given: KIND },
  'apiGroup()': {
    make: apiGroup,
    given: { group: 'demo.example', versions: { v1: [{ resource: widgets, storage: memoryStorage().resource() }] } },
  },
  'completeConfig()': {
    make: completeConfig,
    given: { filters: [{ name: 'f', admit: () => true }], admission: [{ name: 'p', mutate: nothing }] },
  },
  'etcdEngine()': { make: (options) => etcdEngine('etcd://127.0.0.1', options), given: { tls: { caFile: 'ca.pem' } } },
}

/** Whose fields are named by the user. */
const OPEN = 'versions'
/** What other functions have made, and schemas. */
const FINISHED = ['resource', 'storage', 'schema']

/** The same with a field more in one of its objects, for each of them, by where that is. */
function* withOneMore(given: unknown, path = '', isOpen = false): Generator<readonly [path: string, given: unknown]> {
  if (Array.isArray(given))
    for (const [at, item] of given.entries()) for (const [where, one] of withOneMore(item, path)) yield [where, given.with(at, one)]
  if (typeof given !== 'object' || given === null || Array.isArray(given) || !isPlain(given)) return
  if (!isOpen) yield [path, { ...given, noSuchField: 1 }]
  for (const [name, field] of Object.entries(given).filter(([each]) => !FINISHED.includes(each)))
    for (const [where, one] of withOneMore(field, `${path}.${name}`, name === OPEN)) yield [where, { ...given, [name]: one }]
}

describe.each(Object.entries(DEFINITIONS))('%s', (_, { make, given }) => {
  test('takes all that there is', () => {
    expect(() => make(given as never)).not.toThrow()
  })

  test.each([...withOneMore(given)])('%s with a field that there is not is refused, and the field named', (__, wrong) => {
    expect(() => make(wrong as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining('noSuchField') as string }),
    )
  })
})

test.each([
  [{ ...KIND, shortName: ['fl'] }, 'shortName of defineResource(definition): unknown option (did you mean "shortNames"?)'],
  [
    { ...KIND, hub: undefined, versions: { v1: { schema, subresource: { status: true } } } },
    'subresource of version v1 of resource "fleets": unknown option (did you mean "subresources"?)',
  ],
  [
    { ...KIND, hub: undefined, versions: { v1: { schema, subresources: { status: {} } } } },
    'status of subresources of resource "fleets": got {}, allowed: true or false',
  ],
])('the error says which one was meant, or is allowed (%#)', (definition, message) => {
  expect(() => defineResource(definition as never)).toThrow(message)
})

test('an instance of a class has fields of its own', () => {
  class Filter {
    readonly name = 'counting'
    readonly seen = 0
    readonly admit = () => true
  }
  class Rules {
    readonly rules = 1
    validate = () => []
  }
  expect(() => completeConfig({ filters: [new Filter()] })).not.toThrow()
  expect(() => defineResource({ ...KIND, hub: undefined, versions: { v1: { schema, strategy: new Rules() } } } as never)).not.toThrow()
})
