import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Set while user code runs that the server closes after, in all that it does and waits for: a
 * pre-shutdown hook, or a phase of the user's in such a place. Waiting for the close would never
 * end there.
 */
const beforeClose = new AsyncLocalStorage<true>()

export const asBeforeClose = <R>(run: () => R): R => beforeClose.run(true, run)
export const isBeforeClose = (): boolean => beforeClose.getStore() === true

/** The name of the destroy function that runs, in all that it does and waits for. */
const destroying = new AsyncLocalStorage<string>()

export const asDestroying = <R>(name: string, run: () => R): R => destroying.run(name, run)
export const nameOfDestroying = (): string | undefined => destroying.getStore()
