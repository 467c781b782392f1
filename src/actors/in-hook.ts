import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * Set while a pre-shutdown hook runs, in all that it does and waits for: the server closes after
 * it, so waiting for that would never end.
 */
const inHook = new AsyncLocalStorage<true>()

export const asPreShutdownHook = <R>(run: () => R): R => inHook.run(true, run)
export const isInPreShutdownHook = (): boolean => inHook.getStore() === true
