import type { IncomingMessage } from 'node:http'
import { EXEMPT_SEGMENTS } from '../../http/traffic/exempt.ts'
import { defineOptions, option } from '../kit/define.ts'
import { listOf, value } from '../kit/kinds.ts'
import { isPlainPath } from './health.ts'
import { steps } from './steps.ts'

/** What requests pass before their handlers, and which of them are watches. */
export const GATE_OPTIONS = defineOptions({
  /**
   * Which requests are watches, beside upgraded connections, whatever their answers look like.
   * True: it is a watch, told to end in its turn and waited for within `watchGrace`. False: it is a
   * request, which is waited for until the cut of requests, also when it streams events. Undefined:
   * it is a watch if it streams events and its handler has asked for its signal
   * (`shutdownSignalOf`), else a request. What a handler says later, with `markWatch` or
   * `markRequest`, wins. Asked once for every request, before its handler. One that throws, or
   * returns something else, counts as undefined and is reported.
   * @default none, which is undefined for every request
   */
  longRunning: option(
    value<(request: IncomingMessage) => boolean | undefined>(
      'a function of the request that returns true, false or undefined',
      (given) => typeof given === 'function',
    ),
    {
      defaultWords: 'none, which is undefined for every request',
      meaning:
        'Whether a request is a watch, whatever it answers (true: it is told to end, within watchGrace; false: it is a request); undefined: an event stream is a watch if its handler asks for its shutdown signal',
      upstream: 'LongRunningFunc',
    },
  ),
  /**
   * Paths that your application still answers while new requests are refused, as `/healthz`,
   * `/livez`, `/readyz` and `/metrics` are: each with all below it, by whole segments. A request
   * whose target could be read as another path is refused all the same.
   * @default none beside /healthz, /livez, /readyz and /metrics
   */
  exempt: option(
    listOf<string>('a list of paths like /health, without escapes, ? or #', (path) =>
      isPlainPath(path) ? undefined : { path: '', given: path, allowed: 'a path like /health, without escapes, ? or #' },
    ),
    {
      default: [],
      defaultWords: (none) => `${none} beside ${EXEMPT_SEGMENTS.join(', ').replace(/, (\S+)$/, ' and $1')}`,
      meaning: 'Paths, each with all below it, that your application still answers while new requests are refused',
    },
  ),
  /**
   * What every request passes before its handler, beside the health endpoints and the counting: an
   * ordered list, each with its place.
   * @default none
   */
  steps: option(steps(), {
    defaultWords: 'none',
    meaning:
      'What every request passes before its handler, each with its place before or after another: health, retry-after, count, or one of yours',
  }),
})
