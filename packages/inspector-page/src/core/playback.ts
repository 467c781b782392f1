import type { ReceivedJournal } from './journal.ts'

/** Where the page looks: at what happens now, or at one entry of what has happened. */
export interface Cursor {
  /** The entry that is looked at; undefined follows whatever comes. */
  readonly position: number | undefined
  /** The time that is shown, which moves between two entries while playing. */
  readonly at: number
  readonly playing: boolean
}

export const FOLLOWING: Cursor = { position: undefined, at: 0, playing: false }

export const SPEEDS = [0.25, 1, 4] as const
export type Speed = (typeof SPEEDS)[number]

/** A pause in which nothing happens is played no longer than this, in real time. */
const PAUSE_MAX_MS = 600

const at = (journal: ReceivedJournal, position: number): Cursor => {
  const bounded = Math.min(Math.max(0, position), journal.length - 1)
  return { position: bounded, at: journal.entries[bounded]?.at ?? 0, playing: false }
}

export const goTo = (journal: ReceivedJournal, position: number): Cursor => (journal.length === 0 ? FOLLOWING : at(journal, position))

/** The end of what is known, whether or not more will come. */
const positionOf = (journal: ReceivedJournal, { position }: Cursor): number => position ?? journal.length - 1

/** Moves so many entries on or back. */
export const step = (journal: ReceivedJournal, cursor: Cursor, by: number): Cursor => goTo(journal, positionOf(journal, cursor) + by)

/**
 * Moves to the next or the previous lifecycle signal; to the end or the beginning after the last
 * one.
 */
export function stepSignal(journal: ReceivedJournal, cursor: Cursor, direction: 1 | -1): Cursor {
  const here = positionOf(journal, cursor)
  const next =
    direction === 1 ? journal.landmarks.find((position) => position > here) : journal.landmarks.findLast((position) => position < here)
  return goTo(journal, next ?? (direction === 1 ? journal.length - 1 : 0))
}

/** Begins to play where the cursor is; at the end, from the beginning. */
export function play(journal: ReceivedJournal, cursor: Cursor): Cursor {
  const here = positionOf(journal, cursor)
  return { ...goTo(journal, here >= journal.length - 1 ? 0 : here), playing: journal.length > 0 }
}

export const pause = (cursor: Cursor): Cursor => ({ ...cursor, playing: false })

/** Moves a playing cursor by so much real time, and stops it at the end. */
export function advance(journal: ReceivedJournal, cursor: Cursor, elapsedMs: number, speed: Speed): Cursor {
  if (!cursor.playing) return cursor
  const here = positionOf(journal, cursor)
  const next = journal.entries[here + 1]
  if (!next) return goTo(journal, here)
  // A life may idle for hours: what is left of a pause is passed over.
  const from = Math.max(cursor.at, next.at - PAUSE_MAX_MS * speed)
  const to = from + elapsedMs * speed
  const position = Math.max(here, journal.positionAt(to))
  return position >= journal.length - 1
    ? goTo(journal, position)
    : { position, at: Math.max(to, journal.entries[position]?.at ?? 0), playing: true }
}
