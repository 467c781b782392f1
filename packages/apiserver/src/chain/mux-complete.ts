import { Slot } from '../request/slots.ts'
import type { PlacedFilter } from './filter.ts'

/** It came before every path was installed. */
export const EARLY = new Slot(false)

/**
 * Marks requests that came before every path was installed; what is not found answers them another
 * way. The mark stays when the signal fires meanwhile.
 * @see kubernetes/apiserver pkg/endpoints/filters/mux_discovery_complete.go
 */
export const muxComplete = (isComplete: () => boolean): PlacedFilter => ({
  name: 'mux-complete',
  admit: (exchange) => {
    EARLY.set(exchange, !isComplete())
    return true
  },
})
