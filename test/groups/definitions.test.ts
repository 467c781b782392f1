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
/** What the user implements, which has fields of its own. */
const IMPLEMENTED = ['strategy', 'convert', 'filters', 'admission']
/** What other functions have made, and schemas. */
const FINISHED = ['resource', 'storage', 'schema']

/** The same with a field more in one of its objects, for each: where, and what it is called. */
function* withOneMore(given: unknown, path: readonly string[] = []): Generator<readonly [place: string, field: string, given: unknown]> {
  if (Array.isArray(given))
    for (const [at, item] of given.entries())
      for (const [place, field, one] of withOneMore(item, path)) yield [place, field, given.with(at, one)]
  if (typeof given !== 'object' || given === null || Array.isArray(given) || !isPlain(given)) return
  const last = path.at(-1) ?? ''
  const field = IMPLEMENTED.includes(last) ? `${Object.keys(given).at(-1)}x` : 'noSuchField'
  if (last !== OPEN) yield [path.join('.'), field, { ...given, [field]: 1 }]
  for (const [name, inner] of Object.entries(given).filter(([each]) => !FINISHED.includes(each)))
    for (const [place, added, one] of withOneMore(inner, [...path, name])) yield [place, added, { ...given, [name]: one }]
}

describe.each(Object.entries(DEFINITIONS))('%s', (_, { make, given }) => {
  test('takes all that there is', () => {
    expect(() => make(given as never)).not.toThrow()
  })

  test.each([...withOneMore(given)])('%s with the field %s is refused, and the field named', (__, field, wrong) => {
    expect(() => make(wrong as never)).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: expect.stringContaining(field) as string }),
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

test('what the user implements has fields of its own', () => {
  const filter = { name: 'counting', seen: 0, admit: () => true }
  const plugin = { name: 'quota', used: 0, validate: nothing }
  class Rules {
    readonly rules = 1
    validate = () => []
  }
  expect(() => completeConfig({ filters: [filter], admission: [plugin] })).not.toThrow()
  expect(() => defineResource({ ...KIND, hub: undefined, versions: { v1: { schema, strategy: new Rules() } } } as never)).not.toThrow()
})
