import type { Lifecycle } from './lifecycle.ts'

/** Whether it looks like a life: it may have been made by another copy of this package. */
export const isLife = (given: unknown): given is Lifecycle =>
  typeof given === 'object' && given !== null && typeof (given as Partial<Lifecycle>).plan === 'function'
