/** The default of `lastCall`. */
const LAST_CALL_MS = 300

/**
 * Whether the error of a TLS connection is the client's own doing, made at `begunAt`
 * (`performance.now()`): one whose process is so late with its handshake that the last call ends
 * first is closed as an idle one. Such an attempt says nothing; one that is reset sooner does.
 */
export const wasLate = (code: string | undefined, begunAt: number): boolean =>
  code === 'ECONNRESET' && performance.now() - begunAt >= LAST_CALL_MS
