// Fails when: the line of an event, or the list of a webhook, is not the JSON of the event in
// upstream's form; or a time is written wrong.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AuditEvent, eventJson, eventListJson } from '#apiserver/audit/event.ts'
import { compactJson, jsonText } from '#apiserver/encoding/json.ts'
import { microTime } from '#apiserver/micro-time.ts'

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('', '"', '\\', '<&>', '\u2028', '\ud800', '\n', 'é'))
const texts = fc.array(text, { maxLength: 3 })
const perhaps = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const user = fc.record({ username: text, uid: text, groups: texts, extra: fc.dictionary(text, texts) }, { requiredKeys: [] })
const object = fc.oneof(fc.jsonValue(), fc.constant({ metadata: { name: '<a>' } }))
const status = fc.record(
  { metadata: fc.constant({}), status: text, message: text, reason: text, details: object, code: fc.nat() },
  { requiredKeys: ['metadata'] },
)

/** In upstream's order. */
const anyEvent: fc.Arbitrary<AuditEvent> = fc.record({
  kind: fc.constant('Event'),
  apiVersion: fc.constant('audit.k8s.io/v1'),
  level: fc.constantFrom('Metadata', 'Request', 'RequestResponse'),
  auditID: text,
  stage: fc.constantFrom('RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'),
  requestURI: text,
  verb: text,
  user,
  impersonatedUser: perhaps(user),
  authenticationMetadata: perhaps(fc.record({ impersonationConstraint: text })),
  sourceIPs: perhaps(texts),
  userAgent: perhaps(text),
  objectRef: perhaps(fc.record({ resource: text, namespace: text, name: text }, { requiredKeys: [] })),
  responseStatus: perhaps(status),
  requestObject: perhaps(object),
  responseObject: perhaps(object),
  requestReceivedTimestamp: fc.constant('2026-01-01T00:00:00.000000Z'),
  stageTimestamp: fc.constant('2026-01-01T00:00:00.000001Z'),
  annotations: perhaps(fc.dictionary(text, text)),
})

test('the line of any event is its JSON, as upstream encodes it', () => {
  fc.assert(fc.property(anyEvent, (event) => void expect(eventJson(event)).toBe(compactJson(event))))
})

test('a part that may change is written as it is each time', () => {
  const groups = ['a']
  const [event] = fc.sample(anyEvent, { numRuns: 1, seed: 1 }) as [AuditEvent]
  const changing = { ...event, user: { username: 'x', groups } }
  expect(eventJson(changing)).toBe(compactJson(changing))
  groups.push('b')
  expect(eventJson(changing)).toBe(compactJson(changing))
})

test('a text is written right, however many others there were before it, and however long it is', () => {
  const texts = Array.from({ length: 1_000 }, (_, at) => `"${'x'.repeat(at)}" <${at}>`)
  for (const text of [...texts, ...texts]) expect(`${jsonText(text)}\n`).toBe(compactJson(text))
})

test('the list of a webhook has the same, and items that leave their kind to it', () => {
  const list = (items: readonly AuditEvent[]) => ({
    kind: 'EventList',
    apiVersion: 'audit.k8s.io/v1',
    metadata: {},
    items: items.map(({ kind: _, apiVersion: __, ...item }) => item),
  })
  fc.assert(fc.property(fc.array(anyEvent, { maxLength: 3 }), (items) => void expect(eventListJson(items)).toBe(compactJson(list(items)))))
})

test('a time has its microseconds, whatever the one before it was', () => {
  const day = Date.UTC(2026, 6, 1, 10)
  for (const [wallMs, written] of [
    [day, '2026-07-01T10:00:00.000000Z'],
    [day + 999.999, '2026-07-01T10:00:00.999999Z'],
    [day + 1000.004, '2026-07-01T10:00:01.000004Z'],
    [day + 0.5, '2026-07-01T10:00:00.000500Z'],
    [day + 86_400_000, '2026-07-02T10:00:00.000000Z'],
  ] as const)
    expect(microTime(wallMs)).toBe(written)
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4e12 }),
      (ms) => void expect(microTime(ms)).toBe(`${new Date(ms).toISOString().slice(0, -1)}000Z`),
    ),
  )
})
