import type { StateValue } from 'xstate'
import { EXIT_CODES_BY_SEVERITY, type ExitCode } from '../../machines/exit-codes.ts'
import { stateKey } from '../../machines/region.ts'
import type { LifecycleContext } from '../../machines/vocabulary.ts'
import type { ActorView } from './view.ts'

/** What the properties of a life look at in its root machine. */
export const stopOf = ({ context }: ActorView): LifecycleContext['stop'] => (context as LifecycleContext).stop
export const isStopping = (root: ActorView): boolean => stopOf(root) !== undefined
export const isForcing = (root: ActorView): boolean => root.matches('forcing')
export const exitCodeOf = ({ context }: ActorView): ExitCode => (context as LifecycleContext).exitCode
/** 0 is the mildest. */
export const severity = (code: number): number => EXIT_CODES_BY_SEVERITY.indexOf(code as ExitCode)

/** Where a region of the running life stands; undefined when the life does not run any more, or has no such region. */
export const regionOf = ({ value }: ActorView, phase: string): StateValue | undefined =>
  (value as { readonly running?: Readonly<Record<string, StateValue>> }).running?.[stateKey(phase)]

/** The outermost state of a region: `waiting`, `working`, `fired`. */
export function placeOf(root: ActorView, phase: string): string | undefined {
  const value = regionOf(root, phase)
  return typeof value === 'object' ? Object.keys(value)[0] : value
}
