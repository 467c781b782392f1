/** What has a place for each slot. */
export interface Slotted {
  readonly slots: unknown[]
}

/** What each request has before anything was found out, by the place of the slot. */
const INITIAL: unknown[] = []

/**
 * One thing that a filter finds out about a request, for what comes behind it: declared by the file
 * that finds it out, and read by who imports it from there. A place in a list of the request, so
 * that it costs no more than a field.
 */
export class Slot<T> {
  readonly #at: number

  /** @param initial what it is until something else is found out; the same for all requests */
  constructor(initial: T) {
    this.#at = INITIAL.push(initial) - 1
  }

  of({ slots }: Slotted): T {
    return slots[this.#at] as T
  }

  set({ slots }: Slotted, found: T): void {
    slots[this.#at] = found
  }
}

/** The slots of a new request. */
export const emptySlots = (): unknown[] => INITIAL.slice()
