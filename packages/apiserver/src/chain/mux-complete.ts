import { Slot } from '../request/slots.ts'
import type { ChainFilter } from './filter.ts'

/** Whether the request came before every path was installed. */
export const EARLY = new Slot(false)

/**
 * Marks requests that came before every path was installed; what is not found answers them another
 * way. The mark stays when the signal fires meanwhile.
 * @see kubernetes/apiserver pkg/endpoints/filters/mux_discovery_complete.go
 */
export const muxComplete = {
  name: 'mux-complete',
  part: 'outer',
  upstream: 'WithMuxAndDiscoveryComplete',
  why: 'a request keeps what was true when it came: whether every path was installed',
  make: ({ isComplete }: { readonly isComplete: () => boolean }) => ({
    admit: (exchange) => {
      EARLY.set(exchange, !isComplete())
      return true
    },
  }),
} as const satisfies ChainFilter<never>
