import { Slot } from './slots.ts'

/** What its handler was registered with, by the mux or the group that serves it. */
export const ROUTE = new Slot<string | undefined>(undefined)
