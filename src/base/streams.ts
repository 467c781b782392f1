import type { Straggler } from './events.ts'

/** What ends a stream in order that has no end of its own. */
const REMEDY = 'call markWatch(request) in its handler, and end the answer when the signal that it returns is aborted'

/** What a warning says of streams that were cut; which they are is in its details. */
export const STREAMS_CUT = `answers were cut in the middle of their streams; if a stream never ends by itself, ${REMEDY}`

/** The same of one of them, for a line that has to be short. */
export const streamAdvice = (stream: string): string =>
  `if the stream ${stream} never ends by itself, call markWatch(request) in its handler`

/** The streams of which nothing has said whether they end by themselves. */
export const undeclaredStreams = (stragglers: readonly Straggler[]): readonly Straggler[] =>
  stragglers.filter(({ streaming }) => streaming === true)
