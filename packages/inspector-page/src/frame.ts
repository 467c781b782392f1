import type { ReceivedJournal } from './core/journal.ts'
import type { SourceStatus } from './core/life-status.ts'
import type { View } from './core/view.ts'

/**
 * What is drawn at once. Panels draw a frame and nothing else: whether it is live, ended or
 * replayed is not their business.
 */
export interface Frame {
  readonly view: View
  /** The time that is shown, which goes on while nothing happens. */
  readonly now: number
  /** The last entry that is shown. */
  readonly position: number
  readonly journal: ReceivedJournal
  readonly link: SourceStatus
  /** Whether the view is of an earlier time than the last that is known. */
  readonly lookingBack: boolean
}

export interface Panel {
  readonly draw: (frame: Frame) => void
}
