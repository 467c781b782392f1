import type { Duplex } from 'node:stream'
import type { ApiHandler } from '../mux/path-mux.ts'
import { Slot } from './slots.ts'

/** What comes with an upgrade. */
export interface Upgrade {
  readonly socket: Duplex
  readonly head: Buffer
  /** Answers it as if it were none. */
  readonly ordinary: ApiHandler
}

/** The upgrade that has come behind the count. */
export const UPGRADE = new Slot<Upgrade | undefined>(undefined)

/** Whether its socket was given to the handler of an upgrade. */
export const TAKEN_OVER = new Slot(false)
