import type { DeliveryListener } from '../engine/delivery.ts'
import type { Exploration } from '../engine/explore.ts'
import type { Graph } from '../engine/graph.ts'
import type { Live } from '../engine/live.ts'
import { remembered } from '../engine/memo.ts'
import { assertChildNamed } from '../engine/said.ts'
import type { ActorState, LocalState, Timer } from '../engine/state.ts'
import type { Step } from '../engine/step-table.ts'
import { actorPath } from '../engine/trace.ts'
import { type ActorView, viewOf } from '../engine/view.ts'
import { assertFields } from '../options.ts'
import { askedOfState } from './asked.ts'
import type { Property, Violation } from './property.ts'
import { FIRST_TIMER, NOW, START, Zone } from './zone.ts'

export interface Bound {
  /** When the clock starts: at every step into a state of this kind from one that is not. */
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
    vacuous: ({ graph }) =>
      isStarted(graph, named) ? undefined : 'no step starts the clock, because none leads into a state of `from` from one outside',
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

function isStarted(graph: Graph, { from }: Bound): boolean {
  const isFrom = graph.states.map((state) => from(viewOf(state)))
  return isFrom.some((is, state) => !is && [...graph.edgesOf(state)].some(({ to }) => isFrom[to]))
}

/** A state of the untimed graph with the times that are possible in it. */
interface Node {
  readonly state: number
  readonly zone: Zone
  readonly atMost: number
  /** The node before it, and the edge from there; of a first one the edge only. */
  readonly from: Node | undefined
  readonly edge: number
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
    for (let state = 0; state < graph.stateCount; state++) {
      if (this.#bound.from(this.#view(state))) continue
      for (let edge = graph.firstEdge(state); edge < graph.endEdge(state); edge++) {
        const to = graph.to(edge)
        const view = this.#view(to)
        if (!this.#bound.from(view)) continue
        const { atMostMs } = this.#bound
        const atMost = nanoseconds(typeof atMostMs === 'function' ? atMostMs(view) : atMostMs)
        const moves = this.#moves(state, edge)
        const zone = Zone.start(
          this.#timersOf(to).map(({ timer }, i) => ({ delay: nanoseconds(timer.delayMs), isNew: typeof moves[i] !== 'number' })),
        )
        this.#add({ state: to, zone: this.#passing(to, zone), atMost, from: undefined, edge })
      }
    }
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
      const set = new TimersSet()
      model.take(graph.states[state] as ActorState, graph.choice(edge), set)
      const before = this.#timersOf(state)
      const after = this.#timersOf(graph.to(edge))
      const old = new Map<string, number[]>()
      before.forEach(({ key }, i) => {
        if (i !== fired) remembered(old, key, () => []).push(i)
      })
      // Of timers that look alike as many are new as have been set.
      const left = new Map([...old.keys()].map((key) => [key, after.filter((other) => other.key === key).length - set.count(key)]))
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
      edges.unshift(at.edge)
      first = at
    }
    const latest = node.zone.latest(NOW, START)
    const when = Number.isFinite(latest) ? `${latest / NANOSECONDS} ms` : 'any time'
    return {
      finding: `the system may still be in this state ${when} after the clock started; ${node.atMost / NANOSECONDS} ms are allowed`,
      edges: [...graph.pathTo(graph.from(first.edge)), ...edges],
    }
  }
}

interface TrackedTimer {
  readonly path: string
  readonly timer: Timer
  /** The same for a timer that stays as it is from one state to the next. */
  readonly key: string
}

const keyOf = (path: string, { name, event, delayMs }: Timer): string => `${path} ${name ?? `${event.index} ${delayMs}`}`

function timersBelow({ timers, children }: ActorState, path: string): TrackedTimer[] {
  const own = timers.map((timer) => ({ path, timer, key: keyOf(path, timer) }))
  return [...own, ...children.flatMap((child) => timersBelow(child, path ? `${path}/${child.id}` : child.id))]
}

/** A timer that was there, by its position, or a new one. */
type Move = number | { readonly delay: number }

/** Edges and positions of timers make one key. */
const TIMERS_MAX = 1_024

/**
 * Which timers a step sets: those are new, though they may look like ones that were pending before.
 */
class TimersSet implements DeliveryListener {
  readonly #counts = new Map<string, number>()

  count(key: string): number {
    return this.#counts.get(key) ?? 0
  }

  stepped(actor: Live, _before: LocalState, { commands }: Step): void {
    for (const command of commands) {
      if (command.kind !== 'schedule') continue
      const key = keyOf(actorPath(actor), command.timer)
      this.#counts.set(key, this.count(key) + 1)
    }
  }

  sent(): void {}
  said(): void {}
}

const NANOSECONDS = 1_000_000
const nanoseconds = (ms: number): number => Math.round(ms * NANOSECONDS)
/** Delays that are fractions are rounded one by one, and a bound may be the sum of many. */
const ROUNDING = 1_000
