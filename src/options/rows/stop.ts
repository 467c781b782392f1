import { defaultsByFront, FRONT_NAMES, OTHER_FRONT_NAMES } from '../../platforms/fronts.ts'
import { defaultsByPlatform, OTHER_PLATFORM_NAMES, PLATFORM_NAMES } from '../../platforms/platforms.ts'
import { DEADLINE_SHARE_MAX } from '../budget.ts'
import { defineOptions, option } from '../kit/define.ts'
import { fraction } from '../kit/fraction.ts'
import { choice, choiceOf, duration } from '../kit/kinds.ts'

/** A shorter stop could not even report. */
export const timeToTheEnd = () => duration('100ms')

/** How the server stops: where, and how long each part may take. */
export const STOPPING_OPTIONS = defineOptions({
  /**
   * Where the process runs; decides the delay and the deadline that are not given.
   * @default auto
   */
  platform: option(choiceOf(['auto', ...PLATFORM_NAMES], OTHER_PLATFORM_NAMES), {
    default: 'auto',
    meaning: 'Where the process runs; it decides the delay and the deadline that are not given',
  }),
  /**
   * What sends the requests: a Kubernetes Service, an AWS Application or Network Load Balancer, a
   * Google Cloud Load Balancer, or Envoy. It decides the keep-alive timeout that is not given, and
   * delay and deadline where requests may still come after the stop request (not on Cloud Run, ECS,
   * Fly.io and Heroku). What kills the process has to wait longer than the deadline.
   * @default none
   */
  behind: option(choiceOf(FRONT_NAMES, OTHER_FRONT_NAMES), {
    flag: 'behind',
    defaultWords: 'none',
    meaning:
      'What sends the requests; it decides the keep-alive timeout, and delay and deadline where requests come after the stop request',
  }),
  /**
   * Time between StopRequested and the moment new requests may be refused. It must leave the later
   * phases their time before `deadline`.
   * @default 5s on Kubernetes, else 0s
   * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownDelayDuration
   */
  shutdownDelay: option(duration(), {
    flag: 'shutdown-delay-duration',
    default: '0s',
    on: {
      ...defaultsByPlatform('shutdownDelay'),
      ...defaultsByFront('shutdownDelay'),
      // A delay is for those who still send requests.
      createLife: '0s',
    },
    cliDefault: '0s',
    meaning: 'Time between the stop request and the moment new requests may be refused, so that load balancers notice',
    upstream: '--shutdown-delay-duration',
    upstreamRefusal: '--shutdown-delay-duration can not be negative value',
  }),
  /**
   * Time for which idle connections are held when nothing new is accepted any more: a request that
   * is on its way on one is answered, and its client told to leave, instead of lost. Before it,
   * what the kernel has accepted is accepted, too. It ends early when no connection is left that
   * may bring a request. With `whileDraining: 'retry-after'` what comes is answered 429. 0:
   * listeners and idle connections close at once, and connections that the kernel has accepted and
   * the process has not read are reset. At most half of what the budget keeps for
   * requests: what is registered for the late phases takes from it, as `quiesce plan` prints.
   * @default 300ms; 0s after Ctrl-C on a terminal
   */
  lastCall: option(duration(), {
    flag: 'last-call',
    // Measured: docs/decisions/0018-the-last-call.md
    default: '300ms',
    on: defaultsByPlatform('lastCall'),
    meaning:
      'How long idle connections stay open when the listener has closed, so that requests on their way are answered; 0 closes them at once, and resets connections that the process has not read',
  }),
  /**
   * What becomes of new requests while draining: `refuse` closes the listener, `retry-after`
   * answers 429 until everything has drained.
   * @default refuse
   * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownSendRetryAfter
   */
  whileDraining: option(choice('refuse', 'retry-after'), {
    flag: 'shutdown-send-retry-after',
    switch: {
      on: 'retry-after',
      off: 'refuse',
      meaning: 'Answer new requests with 429 while draining, and close the listener only when all are drained',
    },
    default: 'refuse',
    meaning: 'New requests while draining: refuse closes the listener, retry-after answers 429 until all are drained',
    upstream: '--shutdown-send-retry-after',
  }),
  /**
   * Time that watches have to end after they were told. 0: told, but not waited for.
   * @default 8s, at most a third of the deadline
   * @see kubernetes/apiserver pkg/server/config.go Config.ShutdownWatchTerminationGracePeriod
   */
  watchGrace: option(duration(), {
    flag: 'shutdown-watch-termination-grace-period',
    default: '8s',
    defaultWords: (grace) => `${grace}, at most ${fraction(DEADLINE_SHARE_MAX)} of the deadline`,
    meaning:
      'How long open watches have to end; they are told one after the other in the first half of it; 0 tells all at once and waits for none',
    upstream: '--shutdown-watch-termination-grace-period',
    upstreamRefusal: 'shutdown-watch-termination-grace-period, if provided, can not be a negative value',
  }),
  /**
   * Time from StopRequested to the end by force; at least 100 ms. The process is gone by then.
   * @default by platform, else 8s; 2s after Ctrl-C on a terminal; raised to fit a given delay,
   * grace or reserve
   */
  deadline: option(timeToTheEnd(), {
    flag: 'deadline',
    // `docker stop` and Cloud Run kill after 10 s.
    default: '8s',
    on: { ...defaultsByPlatform('deadline'), ...defaultsByFront('deadline') },
    defaultWords: (deadlines) => `${deadlines}; raised to fit a given delay, grace or reserve`,
    meaning: 'Time from the stop request to the end by force; the process is gone by then',
  }),
  /**
   * Time after which the platform kills a process that it has told to end, where it was set to
   * another one than its default: at least 100 ms. Changes nothing; a `deadline` that is not
   * below it is warned of, because what is in flight when the platform kills is cut off.
   * @default by platform
   */
  killAfter: option(timeToTheEnd(), {
    flag: 'kill-after',
    defaultWords: 'by platform',
    meaning: 'How long after its stop signal the platform kills a process; a deadline that is not below it causes a warning',
  }),
  /**
   * The deadline of a stop by an uncaught exception or an unhandled rejection; at least 100 ms. A
   * crash in the middle of a stop has what ends first.
   * @default the deadline when one is given, else 5s, at most the deadline
   */
  crashDeadline: option(timeToTheEnd(), {
    flag: 'crash-deadline',
    default: '5s',
    defaultWords: (own) => `the deadline when one is given, else ${own}, at most the deadline`,
    meaning: 'The deadline of a stop by a crash: uncaught exceptions and unhandled rejections',
  }),
  /**
   * Longest time that accepted requests and holds are waited for, from NotAcceptingNewRequest on;
   * above 0. What is left is cut and named, which is exit code 5. One that is longer than what the
   * budget leaves them changes nothing.
   * @default none: requests have what the deadline leaves them
   */
  requestDrainTimeout: option(duration('1ms'), {
    flag: 'request-drain-timeout',
    defaultWords: 'none: requests have what the deadline leaves them',
    meaning: 'How long accepted requests and holds may take once nothing new is accepted; what is left is cut and named, with exit code 5',
  }),
  /**
   * Time that connections have to end once requests are drained; it does not bound the drain
   * itself. The deadline's own cut may come first.
   * @default the request timeout; 2s when draining with retry-after
   * @see kubernetes/apiserver pkg/server/genericapiserver.go GenericAPIServer.ShutdownTimeout
   */
  connectionTimeout: option(duration(), {
    flag: 'connection-timeout',
    // Everything has drained by then, so only unused connections are left: kubernetes/apiserver
    // pkg/server/genericapiserver.go RunWithContext
    default: '2s',
    defaultWords: (withRetryAfter) => `the request timeout; ${withRetryAfter} when draining with retry-after`,
    meaning: 'Time that connections have to end once requests are drained',
    upstream: 'ShutdownTimeout',
  }),
  /**
   * When kept-alive clients are told to reconnect elsewhere. `'after-delay'` needs `whileDraining:
   * 'retry-after'`.
   * @default gradual; at-once when there is no delay
   */
  notifyClients: option(choice('gradual', 'at-once', 'after-delay'), {
    flag: 'notify-clients',
    default: 'gradual',
    defaultWords: (notifyClients) => `${notifyClients}; at-once when there is no delay`,
    meaning: 'When kept-alive clients are told to reconnect elsewhere; after-delay only with retry-after',
    needs: {
      anyOf: ['whileDraining'],
      otherwise: 'refused',
      because: 'after-delay is for the mode retry-after, in which clients are still answered after the delay',
      when: (notifyClients) => notifyClients === 'after-delay',
      isMet: ({ whileDraining }) => whileDraining === 'retry-after',
    },
  }),
})
