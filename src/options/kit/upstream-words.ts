import { isDuration } from '../../base/duration.ts'

/** What upstream says about values that it refuses, as far as a row has it. */
export interface UpstreamWords {
  /**
   * About a negative value. @see kubernetes/apiserver pkg/server/options/server_run_options.go
   * Validate
   */
  readonly upstreamRefusal?: string
  /** About any number out of bounds. */
  readonly upstreamBounds?: string
}

const NUMBER = /^-?(?:\d+(?:\.\d+)?|\.\d+)$/
const isNumber = (given: unknown): boolean => typeof given === 'number' || (typeof given === 'string' && NUMBER.test(given))
const isNegative = (given: unknown): boolean =>
  isNumber(given) ? Number(given) < 0 : typeof given === 'string' && given.startsWith('-') && isDuration(given.slice(1))

/** ` (--request-timeout can not be negative value)` about a value that was refused, or nothing. */
export function upstreamWords({ upstreamRefusal, upstreamBounds }: UpstreamWords, given: unknown): string {
  const words = isNegative(given) ? (upstreamRefusal ?? upstreamBounds) : isNumber(given) ? upstreamBounds : undefined
  return inBrackets(words)
}

export const inBrackets = (words: string | undefined): string => (words === undefined ? '' : ` (${words})`)
