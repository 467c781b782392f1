import type { Exploration } from '../engine/explore.ts'
import type { Graph } from '../engine/graph.ts'
import { remembered } from '../engine/memo.ts'
import { assertChildNamed } from '../engine/said.ts'
import type { ActorState, Timer } from '../engine/state.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import { assertFields } from '../options.ts'
import { Anew, timerKey } from './anew.ts'
import { askedOfState } from './asked.ts'
import type { Property, Violation } from './property.ts'
import { FIRST_TIMER, NOW, START, Zone } from './zone.ts'

export interface Bound {
  /**
   * When the clock starts: at every step into a state of this kind from one that is not, and at the
   * start of the system if that leads into one.
   */
  readonly from: (root: ActorView) => boolean
  /** When it stops. */
  readonly until: (root: ActorView) => boolean
  /**
   * What it may show then at most, in milliseconds; it may depend on how things stood when the
   * clock started.
   */
  readonly atMostMs: number | ((root: ActorView) => number)
  /**
   * Sources of opaque children that answer at once, because they do nothing but one synchronous
   * step. Default none.
   */
  readonly prompt?: readonly string[]
}

/**
 * A bound in time, on all runs: timed exploration, a mode of its own.
 *
 * Elsewhere any pending timer may be the next. Here a timer is due exactly when its delay is over,
 * none is missed, and steps take no time; everything else (events from outside, answers of opaque
 * children) may come at any time or never. A state is one of the untimed graph with a {@link Zone}:
 * the set of all times that are possible there. Zones are exact, so a bound that is found is
 * reached by a run, and one that holds, holds for every real number of milliseconds in between. One
 * thing is not exact: of timers that are pending when the clock starts nothing is known but that
 * they are not overdue. That allows more than can be, never less.
 *
 * It is an end within the bound as well, not only a bound of those ends that come: a state in which
 * time may pass without limit, because no timer is pending, violates it.
 */
export function within(id: string, text: string, bound: Bound): Property {
  assertFields(bound, BOUND, `${id}: bound`)
  const named = namedBound(id, bound)
  return {
    id,
    text,
    violation(exploration) {
      for (const source of bound.prompt ?? []) assertChildNamed(exploration, source, id)
      return new TimedSearch(exploration, named).violation()
    },
    vacuous: ({ graph }) => (isStarted(graph, named) ? undefined : 'no run starts the clock, because none comes to a state of `from`'),
  }
}

/** The same, where what throws says what it is of. */
const namedBound = (id: string, { from, until, atMostMs, ...rest }: Bound): Bound => ({
  ...rest,
  from: (root) => askedOfState(id, 'from', from, root),
  until: (root) => askedOfState(id, 'until', until, root),
  atMostMs: typeof atMostMs === 'number' ? atMostMs : (root) => askedOfState(id, 'atMostMs', atMostMs, root),
})

const BOUND: Readonly<Record<keyof Bound, true>> = { from: true, until: true, atMostMs: true, prompt: true }

const isStarted = ({ states }: Graph, { from }: Bound): boolean => states.some((state) => from(viewOf(state)))

/** A state of the untimed graph with the times that are possible in it. */
interface Node {
  readonly state: number
  readonly zone: Zone
  readonly atMost: number
  /** The node before it, and the edge from there; of a first one the edge only, if there is one. */
  readonly from: Node | undefined
  readonly edge: number | undefined
}

class TimedSearch {
  readonly #exploration: Exploration
  readonly #bound: Bound
  readonly #timers = new Map<number, readonly TrackedTimer[]>()
  readonly #zones = new Map<number, Node[]>()
  readonly #movesOf = new Map<number, readonly Move[]>()
  readonly #queue: Node[] = []

  constructor(exploration: Exploration, bound: Bound) {
    this.#exploration = exploration
    this.#bound = bound
  }

  violation(): Violation | undefined {
    this.#addStarts()
    for (const node of this.#queue) {
      if (node.zone.latest(NOW, START) > node.atMost + ROUNDING) return this.#tooLate(node)
      this.#follow(node)
    }
    return undefined
  }

  /** Every way in which the clock may be started. */
  #addStarts(): void {
    const { graph } = this.#exploration
    // Of the first state all timers are new.
    if (this.#bound.from(this.#view(0))) this.#addStart(0, undefined, () => true)
    for (let state = 0; state < graph.stateCount; state++) {
      if (this.#bound.from(this.#view(state))) continue
      for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++) {
        const to = graph.to(edge)
        if (!this.#bound.from(this.#view(to))) continue
        const moves = this.#moves(state, edge)
        this.#addStart(to, edge, (timer) => typeof moves[timer] !== 'number')
      }
    }
  }

  #addStart(state: number, edge: number | undefined, isNew: (timer: number) => boolean): void {
    const { atMostMs } = this.#bound
    const atMost = nanoseconds(typeof atMostMs === 'function' ? atMostMs(this.#view(state)) : atMostMs)
    const timers = this.#timersOf(state).map(({ timer }, i) => ({ delay: nanoseconds(timer.delayMs), isNew: isNew(i) }))
    this.#add({ state, zone: this.#passing(state, Zone.start(timers)), atMost, from: undefined, edge })
  }

  #follow(node: Node): void {
    const { graph } = this.#exploration
    for (let edge = graph.firstEdge(node.state); edge < graph.endEdge(node.state); edge++) {
      const { timer, path } = graph.choice(edge)
      if (!timer) {
        this.#step(node, edge, node.zone)
        continue
      }
      this.#timersOf(node.state).forEach((pending, i) => {
        if (pending.timer !== timer || pending.path !== path.text) return
        const zone = node.zone.due(i + FIRST_TIMER)
        if (zone) this.#step(node, edge, zone, i)
      })
    }
  }

  #step(from: Node, edge: number, zone: Zone, fired?: number): void {
    const moves = this.#moves(from.state, edge, fired)
    const state = this.#exploration.graph.to(edge)
    const next = zone.withTimers(moves.map((move) => (typeof move === 'number' ? move + FIRST_TIMER : move)))
    this.#add({ state, zone: this.#passing(state, next), atMost: from.atMost, from, edge })
  }

  /** Time passes, unless an answer comes before it can. */
  #passing(state: number, zone: Zone): Zone {
    const { prompt = [] } = this.#bound
    const isPrompt = ({ local, children }: ActorState): boolean => prompt.includes(local.logic.name) || children.some(isPrompt)
    return prompt.length > 0 && isPrompt(this.#exploration.graph.states[state] as ActorState) ? zone : zone.passing()
  }

  #add(node: Node): void {
    if (this.#bound.until(this.#view(node.state))) return
    const known = remembered(this.#zones, node.state, () => [])
    if (known.some(({ zone, atMost }) => atMost <= node.atMost && node.zone.isWithin(zone))) return
    known.push(node)
    this.#queue.push(node)
  }

  /** Where each timer after an edge comes from: a position before it, or new with its delay. */
  #moves(state: number, edge: number, fired = -1): readonly Move[] {
    return remembered(this.#movesOf, edge * TIMERS_MAX + fired, () => {
      const { graph, model } = this.#exploration
      const anew = new Anew()
      model.take(graph.states[state] as ActorState, graph.choice(edge), anew)
      const before = this.#timersOf(state)
      const after = this.#timersOf(graph.to(edge))
      const old = new Map<string, number[]>()
      before.forEach(({ key }, i) => {
        if (i !== fired) remembered(old, key, () => []).push(i)
      })
      // Of timers that look alike as many are new as have been set.
      const left = new Map([...old.keys()].map((key) => [key, after.filter((other) => other.key === key).length - anew.timesSet(key)]))
      return after.map(({ key, timer }): Move => {
        const count = left.get(key) ?? 0
        left.set(key, count - 1)
        return (count > 0 ? old.get(key)?.shift() : undefined) ?? { delay: nanoseconds(timer.delayMs) }
      })
    })
  }

  #timersOf(state: number): readonly TrackedTimer[] {
    return remembered(this.#timers, state, () => timersBelow(this.#exploration.graph.states[state] as ActorState, ''))
  }

  #view(state: number): ActorView {
    return viewOf(this.#exploration.graph.states[state] as ActorState)
  }

  #tooLate(node: Node): Violation {
    const { graph } = this.#exploration
    const edges: number[] = []
    let first = node
    for (let at: Node | undefined = node; at; at = at.from) {
      if (at.edge !== undefined) edges.unshift(at.edge)
      first = at
    }
    const wayToFirst = first.edge === undefined ? [] : graph.pathTo(graph.from(first.edge))
    const latest = node.zone.latest(NOW, START)
    const when = Number.isFinite(latest) ? `${latest / NANOSECONDS} ms` : 'any time'
    return {
      finding: `the system may still be in this state ${when} after the clock started; ${node.atMost / NANOSECONDS} ms are allowed`,
      edges: [...wayToFirst, ...edges],
    }
  }
}

interface TrackedTimer {
  readonly path: string
  readonly timer: Timer
  readonly key: string
}

function timersBelow({ timers, children }: ActorState, path: string): TrackedTimer[] {
  const own = timers.map((timer) => ({ path, timer, key: timerKey(path, timer) }))
  return [...own, ...children.flatMap((child) => timersBelow(child, path ? `${path}/${child.id}` : child.id))]
}

/** A timer that was there, by its position, or a new one. */
type Move = number | { readonly delay: number }

/** Edges and positions of timers make one key. */
const TIMERS_MAX = 1_024

const NANOSECONDS = 1_000_000
const nanoseconds = (ms: number): number => Math.round(ms * NANOSECONDS)
/** Delays that are fractions are rounded one by one, and a bound may be the sum of many. */
const ROUNDING = 1_000
