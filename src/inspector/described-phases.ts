import { type Composition, effectiveWiring } from '../machines/lifecycle.ts'
import type { PhaseDescription } from './protocol.ts'

/** The rows of a life, for the opening of its journal. */
export const describedPhases = (composition: Composition): PhaseDescription[] =>
  Object.entries(effectiveWiring(composition)).map(([name, { lane, after, fires, cut }]) => ({
    name,
    half: lane,
    waitsFor: after,
    fires: [fires],
    ...(cut && { cut }),
  }))
