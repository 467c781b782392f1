/** How long to wait before something is tried again. */
export interface Backoff {
  readonly initialMs: number
  /** The longest wait, before the jitter. */
  readonly maxMs: number
  /** How much longer than that it may be by chance, as a part of it. */
  readonly jitter: number
}

/** What an informer waits. @see kubernetes/client-go tools/cache/reflector.go defaultBackoffInit */
export const INFORMER_BACKOFF: Backoff = { initialMs: 800, maxMs: 30_000, jitter: 1 }

/** Milliseconds to wait behind the nth failure in a row; none behind no failure. */
export const exponentialMs = ({ initialMs, maxMs, jitter }: Backoff, failures: number, random: () => number): number =>
  failures === 0 ? 0 : Math.min(maxMs, initialMs * 2 ** (failures - 1)) * (1 + jitter * random())
