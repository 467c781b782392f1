/**
 * How often something is posted, the first time included.
 * @see kubernetes/apiserver pkg/util/webhook/webhook.go DefaultRetryBackoffWithInitialDelay
 */
export const ATTEMPTS = 5
const FACTOR = 1.5
const JITTER = 0.2

/** Milliseconds to wait behind an attempt, of which the first is 1. */
export const backoffMs = (initialMs: number, attempt: number, random: () => number): number =>
  initialMs * FACTOR ** (attempt - 1) * (1 + JITTER * random())
