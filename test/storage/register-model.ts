import { type Interval, linearize, type SequentialModel } from '../support/linearizability.ts'

/** What a client has seen of a key. */
export interface Seen {
  readonly value: string
  readonly createRevision: number
  readonly modRevision: number
}

export type Asked =
  | { readonly what: 'get' }
  /** No two have the same value: one that is read says who wrote it. */
  | { readonly what: 'put'; readonly value: string; readonly expected?: number | undefined }
  | { readonly what: 'delete'; readonly expected?: number | undefined }

export type Answer =
  | { readonly is: 'read'; readonly entry: Seen | undefined; readonly revision: number }
  | { readonly is: 'done'; readonly revision: number; readonly previous?: Seen | undefined }
  | { readonly is: 'refused'; readonly current: Seen | undefined }

export interface StoreOperation extends Interval {
  readonly client: string
  readonly key: string
  readonly asked: Asked
  /** There when it was answered. */
  readonly answer?: Answer | undefined
}

/** What is there; a revision that nobody was told is left out. */
interface Kept {
  readonly value: string
  readonly createRevision: number | undefined
  readonly modRevision: number | undefined
}

interface Register {
  readonly entry: Kept | undefined
  /** That of the last change, or an older one where it is not known. */
  readonly revision: number
}

const seenText = (seen: Kept | undefined): string =>
  seen ? `${seen.value}@${seen.modRevision ?? '?'} of ${seen.createRevision ?? '?'}` : 'nothing'

/** Whether what is there can be what was seen. */
const isSame = (kept: Kept | undefined, seen: Seen | undefined): boolean =>
  kept?.value === seen?.value &&
  kept?.modRevision === seen?.modRevision &&
  (kept?.createRevision ?? seen?.createRevision) === seen?.createRevision

const expectation = (expected: number | undefined): string => (expected === undefined ? '' : `, expecting ${expected}`)

export function textOf({ client, key, asked, answer, calledAt, answeredAt }: StoreOperation): string {
  const what = asked.what === 'get' ? `get ${key}` : `${asked.what} ${key}${asked.what === 'put' ? `=${asked.value}` : ''}`
  const said =
    answer === undefined
      ? 'was not answered'
      : answer.is === 'read'
        ? `${seenText(answer.entry)}, at ${answer.revision}`
        : answer.is === 'done'
          ? `done at ${answer.revision}${answer.previous ? `, was ${seenText(answer.previous)}` : ''}`
          : `refused, is ${seenText(answer.current)}`
  return `${calledAt}-${answeredAt ?? ''} ${client}: ${what}${asked.what === 'get' ? '' : expectation(asked.expected)}: ${said}`
}

const seenIn = ({ answer }: StoreOperation): Seen | undefined =>
  answer?.is === 'read' ? answer.entry : answer?.is === 'done' ? answer.previous : answer?.current

/** A key as a register. @param learned where writes without an answer were seen */
const registerModel = (learned: ReadonlyMap<string, Seen>): SequentialModel<Register, StoreOperation> => ({
  initial: { entry: undefined, revision: 0 },
  textOf: ({ entry, revision }) => `${seenText(entry)}/${revision}`,
  after(state, { asked, answer }) {
    const { entry, revision } = state
    if (asked.what === 'get') return answer?.is === 'read' && isSame(entry, answer.entry) ? { entry: answer.entry, revision } : undefined
    // What nobody was told nobody expects.
    const isExpected = asked.expected === undefined || asked.expected === (entry ? entry.modRevision : 0)
    const canBeDone = isExpected && (asked.what === 'put' || entry !== undefined)
    if (answer?.is === 'refused') return !canBeDone && isSame(entry, answer.current) ? { entry: answer.current, revision } : undefined
    if (!canBeDone) return undefined
    const done = answer?.is === 'done' ? answer : undefined
    if (done !== undefined && done.revision <= revision) return undefined
    if (asked.what === 'delete')
      return done && !isSame(entry, done.previous) ? undefined : { entry: undefined, revision: done?.revision ?? revision }
    const at = done?.revision ?? learned.get(asked.value)?.modRevision
    if (at !== undefined && at <= revision) return undefined
    const createRevision = entry ? entry.createRevision : at
    return { entry: { value: asked.value, createRevision, modRevision: at }, revision: at ?? revision }
  },
})

/** The order of revisions over all keys is that of the operations. */
function* revisionFaults(history: readonly StoreOperation[]): Iterable<string> {
  const byRevision = new Map<number, StoreOperation>()
  for (const operation of history) {
    if (operation.answer?.is !== 'done') continue
    const other = byRevision.get(operation.answer.revision)
    if (other) yield `one revision was given twice:\n  ${textOf(other)}\n  ${textOf(operation)}`
    byRevision.set(operation.answer.revision, operation)
  }
  const answered = history
    .filter(({ answer }) => answer !== undefined && answer.is !== 'refused')
    .sort((one, other) => Number(one.answeredAt) - Number(other.answeredAt))
  const called = [...answered].sort((one, other) => one.calledAt - other.calledAt)
  let newest: StoreOperation | undefined
  const revisionOf = (operation: StoreOperation | undefined): number =>
    operation?.answer === undefined || operation.answer.is === 'refused' ? 0 : operation.answer.revision
  let at = 0
  for (const operation of called) {
    while (Number(answered[at]?.answeredAt) < operation.calledAt) {
      if (revisionOf(answered[at]) > revisionOf(newest)) newest = answered[at]
      at++
    }
    const isBehind =
      operation.answer?.is === 'done' ? revisionOf(operation) > revisionOf(newest) : revisionOf(operation) >= revisionOf(newest)
    if (!isBehind && newest) yield `the revision has gone back:\n  ${textOf(newest)}\n  ${textOf(operation)}`
  }
}

/** What nobody has written, or at another revision than its writer was told. */
function* strangers(history: readonly StoreOperation[]): Iterable<string> {
  const writers = new Map(history.flatMap((write) => (write.asked.what === 'put' ? [[write.asked.value, write] as const] : [])))
  const places = new Map<string, number>()
  for (const operation of history) {
    const seen = seenIn(operation)
    if (seen === undefined) continue
    const writer = writers.get(seen.value)
    if (writer === undefined || writer.key !== operation.key) yield `nobody has written what was seen:\n  ${textOf(operation)}`
    const place = writer?.answer?.is === 'done' ? writer.answer.revision : (places.get(seen.value) ?? seen.modRevision)
    places.set(seen.value, place)
    if (place !== seen.modRevision) yield `a write is at ${place}, and was seen at ${seen.modRevision}:\n  ${textOf(operation)}`
  }
}

/**
 * Why a history of a store cannot have happened with its operations done one after the other;
 * empty: it can. Keys are looked at one by one, as what is linearizable for each is so for all,
 * and the revision over all of them for itself.
 */
export function faultsOf(history: readonly StoreOperation[]): readonly string[] {
  return [...orderFaults(history), ...revisionFaults(history), ...strangers(history)]
}

/** What the search for an order finds alone. */
export function* orderFaults(history: readonly StoreOperation[]): Iterable<string> {
  for (const key of new Set(history.map((operation) => operation.key))) {
    const all = history.filter((operation) => operation.key === key)
    const seen = all.flatMap((operation) => seenIn(operation) ?? [])
    const learned = new Map(seen.map((each) => [each.value, each]))
    const known = new Set([
      ...all.map(({ answer }) => answer?.is === 'done' && answer.revision),
      ...seen.map(({ modRevision }) => modRevision),
    ])
    // On a write that nobody has seen no answer depends, as all that do show what they have found;
    // but a key may have come to be by it, which is seen later.
    const hasUnseenBeginning = seen.some(({ createRevision }) => !known.has(createRevision))
    const isRelevant = ({ asked, answer }: StoreOperation): boolean =>
      answer !== undefined || asked.what === 'delete' || (asked.what === 'put' && (hasUnseenBeginning || learned.has(asked.value)))
    const verdict = linearize(registerModel(learned), all.filter(isRelevant))
    if (verdict.isLinearizable) continue
    const { order, state, stuck } = verdict
    const lines = [...order.slice(-5), ...stuck].map(
      (operation, at) => `  ${at < Math.min(5, order.length) ? 'then' : 'stuck'} ${textOf(operation)}`,
    )
    yield `no order of what was done to ${key} explains its answers; ${order.length} operations have led to ${seenText(state.entry)}:\n${lines.join('\n')}`
  }
}
