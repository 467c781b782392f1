/**
 * Whether what concurrent clients have seen can have happened one after the other, each operation
 * at one moment between its call and its answer: linearizability, searched for as Wing and Gong
 * do, with a memory of where the search has been.
 * @see Wing, Gong: Testing and verifying concurrent objects, 1993; Lowe: Testing for
 * linearizability, 2017
 */

/** What one client has asked, and when; times are of one clock that never stands still. */
export interface Interval {
  readonly calledAt: number
  /**
   * Left out: the answer has not come. It may have been done at any time since the call, or never.
   */
  readonly answeredAt?: number | undefined
}

/** The object as one that does one thing at a time. */
export interface SequentialModel<State, Operation extends Interval> {
  readonly initial: State
  /**
   * The state behind an operation that is done in this one, undefined where it cannot have been
   * done, or cannot have been answered as it was.
   */
  readonly after: (state: State, operation: Operation) => State | undefined
  /** Two states are one if their texts are. */
  readonly textOf: (state: State) => string
}

export type Verdict<State, Operation> =
  | { readonly isLinearizable: true }
  | {
      readonly isLinearizable: false
      /** The longest order that was found, which is one of several. */
      readonly order: readonly Operation[]
      /** Where that has led. */
      readonly state: State
      /** What would have had to be done next, and cannot have been. */
      readonly stuck: readonly Operation[]
    }

/** A place of the search: what has been done, what that has made, and what was tried from here. */
interface Place<State> {
  readonly state: State
  readonly candidates: readonly number[]
  /** The operation that led here; -1: the beginning. */
  readonly by: number
  tried: number
}

/**
 * Searches for an order. What was answered has to be in it; what was not is in it where that
 * helps. The time that takes grows with how many operations overlap, and with how many were not
 * answered.
 */
export function linearize<State, Operation extends Interval>(
  model: SequentialModel<State, Operation>,
  history: readonly Operation[],
): Verdict<State, Operation> {
  const operations = [...history].sort((one, other) => one.calledAt - other.calledAt)
  const isDone = operations.map(() => false)
  let missing = operations.filter(({ answeredAt }) => answeredAt !== undefined).length
  const isOpen = (at: number): boolean => !isDone[at] && operations[at]?.answeredAt !== undefined

  /** What can be next: called before any that is missing was answered. */
  function candidates(): readonly number[] {
    let until = Number.POSITIVE_INFINITY
    const found: number[] = []
    for (const [at, { calledAt, answeredAt = Number.POSITIVE_INFINITY }] of operations.entries()) {
      if (calledAt > until) break
      if (isDone[at]) continue
      found.push(at)
      until = Math.min(until, answeredAt)
    }
    return found
  }

  const seen = new Set<string>()
  /** The set of what is done, as a text that is short where most of it is a beginning. */
  function textOfDone(): string {
    const [ahead, unanswered]: [number[], number[]] = [[], []]
    let from = 0
    while (from < operations.length && !isOpen(from)) from++
    for (const [at, done] of isDone.entries()) {
      if (!done) continue
      if (operations[at]?.answeredAt === undefined) unanswered.push(at)
      else if (at > from) ahead.push(at)
    }
    return `${from}+${ahead.join()}?${unanswered.join()}`
  }

  const path: Place<State>[] = [{ state: model.initial, candidates: candidates(), by: -1, tried: 0 }]
  let best: { readonly order: readonly number[]; readonly state: State; readonly missing: number } = {
    order: [],
    state: model.initial,
    missing,
  }

  while (missing > 0) {
    const place = path.at(-1)
    if (place === undefined) {
      const order = best.order.map((at) => operations[at] as Operation)
      const rest = operations.filter((operation) => !order.includes(operation))
      const until = Math.min(...rest.map(({ answeredAt = Number.POSITIVE_INFINITY }) => answeredAt))
      return { isLinearizable: false, order, state: best.state, stuck: rest.filter(({ calledAt }) => calledAt <= until) }
    }
    const at = place.candidates[place.tried++]
    if (at === undefined) {
      path.pop()
      if (place.by < 0) continue
      isDone[place.by] = false
      if (operations[place.by]?.answeredAt !== undefined) missing++
      continue
    }
    const operation = operations[at] as Operation
    const state = model.after(place.state, operation)
    if (state === undefined) continue
    isDone[at] = true
    const where = `${textOfDone()}=${model.textOf(state)}`
    if (seen.has(where)) {
      isDone[at] = false
      continue
    }
    seen.add(where)
    if (operation.answeredAt !== undefined) missing--
    path.push({ state, candidates: candidates(), by: at, tried: 0 })
    if (missing < best.missing) best = { order: path.slice(1).map(({ by }) => by), state, missing }
  }
  return { isLinearizable: true }
}
