import type { StateValue } from 'xstate'
import type { ActorView } from '#model'
import { EXIT_CODES_BY_SEVERITY, type ExitCode } from '../../machines/exit-codes.ts'
import { stateKey } from '../../machines/region.ts'
import type { LifecycleContext } from '../../machines/vocabulary.ts'
import { onceForEach } from './once.ts'

/** What the properties of a life look at in its root machine. */
export const stopOf = ({ context }: ActorView): LifecycleContext['stop'] => (context as LifecycleContext).stop
export const isStopping = (root: ActorView): boolean => stopOf(root) !== undefined
export const isForcing = onceForEach(
  ({ value }: ActorView): boolean => value === 'forcing' || (typeof value === 'object' && Object.hasOwn(value, 'forcing')),
)
export const exitCodeOf = ({ context }: ActorView): ExitCode => (context as LifecycleContext).exitCode
/** 0 is the mildest. */
export const severity = (code: number): number => EXIT_CODES_BY_SEVERITY.indexOf(code as ExitCode)

/**
 * Where a region of the running life stands; undefined when the life does not run any more, or has
 * no such region.
 */
export const regionOf = ({ value }: ActorView, phase: string): StateValue | undefined =>
  (value as { readonly running?: Readonly<Record<string, StateValue>> }).running?.[keyOf(phase)]

/** Every property asks for every phase in every state. */
function keyOf(phase: string): string {
  let key = keys.get(phase)
  if (key === undefined) {
    key = stateKey(phase)
    keys.set(phase, key)
  }
  return key
}
const keys = new Map<string, string>()

/** The outermost state of a region: `waiting`, `working`, `fired`. */
export function placeOf(root: ActorView, phase: string): string | undefined {
  const known = placesIn(root)
  let place = known.get(phase)
  if (place === undefined) {
    const value = regionOf(root, phase)
    place = typeof value === 'object' ? Object.keys(value)[0] : value
    known.set(phase, place)
  }
  return place
}
/** Properties ask for the same places again and again. */
const placesIn = onceForEach((_: ActorView) => new Map<string, string | undefined>())

/**
 * Whether something has to happen to an actor: a timer of it, or the end of an effect.
 * @param apartFrom id of an effect that does not count
 */
export const isWaitingForSomething = (actor: ActorView, apartFrom?: string): boolean =>
  actor.timers.length > 0 ||
  (actor.value === undefined && actor.id !== apartFrom) ||
  actor.children.some((child) => isWaitingForSomething(child, apartFrom))

/**
 * A running actor below another, by ids. Not by `actor()`, which refuses an id that the system does
 * not have: what has to run is stated here, and a machine that lacks it violates that.
 */
export const actorBelow = (actor: ActorView, ...[id, ...below]: readonly string[]): ActorView | undefined => {
  if (id === undefined) return actor
  const child = actor.children.find((other) => other.id === id)
  return child && actorBelow(child, ...below)
}
