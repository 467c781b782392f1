/** The only file of the page that knows the browser's time. */

/** Milliseconds that only grow; counted from nothing in particular. */
export const now = (): number => performance.now()

export const later = (fn: () => void, ms: number): void => void setTimeout(fn, ms)
