import {
  choice,
  defineOptions,
  duration,
  fields,
  fieldsNeeding,
  file,
  integer,
  type Needs,
  onOff,
  option,
  type Problems,
  type ResolvedOf,
  type UserOptions,
  value,
  type Wrong,
} from '../engine.ts'
import { REMOTE_ALLOWED, remoteOptions, wrongRemote } from '../webhook/options.ts'
import { LOG_FORMATS } from './log-backend.ts'
import { type AuditPolicy, policyProblem } from './policy.ts'

/**
 * How requests and their recording wait for each other. `batch`: not at all. `blocking`: a request
 * waits until it is recorded, and goes on whether or not that went well; its answer is whole when
 * its last event is stored. `blocking-strict`: the same, and a request that cannot be recorded when
 * it comes is refused with 500.
 */
export const AUDIT_MODES = ['batch', 'blocking', 'blocking-strict'] as const
export type AuditMode = (typeof AUDIT_MODES)[number]

/** The need of options that a backend in another mode has no use for. */
const ofBatches = (mode: AuditMode): Needs => ({
  anyOf: ['mode'],
  otherwise: 'without effect',
  because: 'only the mode batch collects events',
  isMet: (beside) => (beside['mode'] ?? mode) === 'batch',
})

/** The need of options for files that are put aside. */
const ofRotation: Needs = {
  anyOf: ['maxSize'],
  otherwise: 'without effect',
  because: 'the log file is not rotated',
  isMet: ({ maxSize, path }) => maxSize !== 0 && path !== '-',
}
const ofThrottle: Needs = { anyOf: ['throttle'], otherwise: 'without effect', because: 'batches are not throttled' }
const ofTruncation: Needs = { anyOf: ['truncate'], otherwise: 'without effect', because: 'nothing is cut' }

interface Defaults {
  readonly mode: AuditMode
  readonly maxBatchSize: number
  readonly maxBatchWait: string
  readonly throttle: boolean
}

const COUNT_MAX = 10_000_000
const BYTES_MAX = 2 ** 31 - 1
const EVENT_BYTES = 100 * 1024
const BATCH_BYTES = 10 * 1024 * 1024

/**
 * What both backends have.
 * @see kubernetes/apiserver pkg/server/options/audit.go AuditBatchOptions
 */
const common = (which: 'log' | 'webhook', { mode, maxBatchSize, maxBatchWait, throttle }: Defaults) => {
  const flag = <const Name extends string>(name: Name) => {
    const full = `audit-${which}-${name}` as const
    return { flag: full, upstream: `--${full}` } as const
  }
  return {
    /** How requests and their recording wait for each other. */
    mode: option(choice(...AUDIT_MODES), {
      ...flag('mode'),
      default: mode,
      meaning: 'Whether a request waits until its event is recorded, and is refused when that fails',
    }),
    /** Events that may wait in the mode `batch`; further ones are lost, and counted. */
    bufferSize: option(integer(1, COUNT_MAX), {
      ...flag('batch-buffer-size'),
      default: 10_000,
      meaning: 'In the mode batch: how many events may wait',
      needs: ofBatches(mode),
    }),
    /** Events that leave together in the mode `batch`. */
    maxBatchSize: option(integer(1, COUNT_MAX), {
      ...flag('batch-max-size'),
      default: maxBatchSize,
      meaning: 'In the mode batch: how many events a batch may have',
      needs: ofBatches(mode),
    }),
    /** Time after which events leave that are fewer, in the mode `batch`. */
    maxBatchWait: option(duration(), {
      ...flag('batch-max-wait'),
      default: maxBatchWait,
      meaning: 'In the mode batch: time after which a batch is sent even if it is not full',
      needs: ofBatches(mode),
    }),
    /** Whether batches are throttled. */
    throttle: option(onOff(), {
      ...flag('batch-throttle-enable'),
      default: throttle,
      meaning: 'In the mode batch: whether batches are throttled',
      needs: ofBatches(mode),
    }),
    /** Batches a second, on average. */
    throttleQps: option(integer(1, COUNT_MAX), {
      ...flag('batch-throttle-qps'),
      default: 10,
      meaning: 'Batches a second, when they are throttled',
      needs: throttle ? { ...ofThrottle, isMet: (beside) => beside['throttle'] !== false } : ofThrottle,
    }),
    /** Batches that may leave at once. */
    throttleBurst: option(integer(1, COUNT_MAX), {
      ...flag('batch-throttle-burst'),
      default: 15,
      meaning: 'Batches that may be sent at once, when they are throttled',
      needs: throttle ? { ...ofThrottle, isMet: (beside) => beside['throttle'] !== false } : ofThrottle,
    }),
    /** Whether events and batches that are too large are cut. */
    truncate: option(onOff(), {
      ...flag('truncate-enabled'),
      default: false,
      meaning: 'Whether events and batches that are too large are cut',
    }),
    /** Bytes of an event; a larger one loses its bodies, or is lost. */
    truncateMaxEventSize: option(integer(1, BYTES_MAX), {
      ...flag('truncate-max-event-size'),
      default: EVENT_BYTES,
      meaning: 'Bytes that an event may have when events are cut: a larger one is stored without its bodies, or not at all',
      needs: ofTruncation,
    }),
    /** Bytes of a batch, at least those of an event; a larger one is split. */
    truncateMaxBatchSize: option(integer(1, BYTES_MAX), {
      ...flag('truncate-max-batch-size'),
      default: BATCH_BYTES,
      meaning: 'Bytes that a batch may have when batches are cut, at least as many as an event; a larger one is split',
      needs: ofTruncation,
    }),
  }
}

/**
 * No batch could hold an event of the size that is let through.
 * @see kubernetes/apiserver pkg/server/options/audit.go AuditTruncateOptions.Validate
 */
function wrongTruncation(given: Readonly<Record<string, unknown>>): Wrong | undefined {
  const event = Number(given['truncateMaxEventSize'] ?? EVENT_BYTES)
  const batch = Number(given['truncateMaxBatchSize'] ?? BATCH_BYTES)
  if (batch >= event) return undefined
  return {
    path: '.truncateMaxBatchSize',
    given: batch,
    allowed: `at least ${event}, the size of one event,`,
    beside: '.truncateMaxEventSize',
  }
}

export const AUDIT_LOG_OPTIONS = defineOptions({
  /** A file, or `-` for standard output. It, and its folder, are made when they are not there. */
  path: option(file('a file name, or - for standard output', '-'), {
    flag: 'audit-log-path',
    defaultWords: 'none',
    meaning: 'File for audit events; - is standard output',
    upstream: '--audit-log-path',
  }),
  /** `json`: an event per line as JSON; `legacy`: upstream's older text. */
  format: option(choice(...LOG_FORMATS), {
    flag: 'audit-log-format',
    default: 'json',
    meaning: 'How events are written: as JSON, or as the older text',
    upstream: '--audit-log-format',
  }),
  /** Megabytes after which a file is rotated; 0 is never. */
  maxSize: option(integer(0, COUNT_MAX), {
    flag: 'audit-log-maxsize',
    default: 100,
    meaning: 'Megabytes after which the file is rotated; 0 means never',
    upstream: '--audit-log-maxsize',
  }),
  /** Days that rotated files are kept; 0 is for ever. */
  maxAge: option(integer(0, COUNT_MAX), {
    flag: 'audit-log-maxage',
    default: 366,
    meaning: 'Days that rotated files are kept; 0 means for ever',
    needs: ofRotation,
    upstream: '--audit-log-maxage',
  }),
  /** Rotated files that are kept; 0 is all. */
  maxBackups: option(integer(0, COUNT_MAX), {
    flag: 'audit-log-maxbackup',
    default: 100,
    meaning: 'Rotated files that are kept; 0 means all',
    needs: ofRotation,
    upstream: '--audit-log-maxbackup',
  }),
  /** Whether rotated files are compressed, with gzip. */
  compress: option(onOff(), {
    flag: 'audit-log-compress',
    default: false,
    meaning: 'Whether rotated files are compressed',
    needs: ofRotation,
    upstream: '--audit-log-compress',
  }),
  ...common('log', { mode: 'blocking', maxBatchSize: 1, maxBatchWait: '0s', throttle: false }),
})

export const AUDIT_WEBHOOK_OPTIONS = defineOptions({
  ...remoteOptions('audit-webhook-config-file', 'lists of events'),
  /** Time before a list that could not be posted is posted again; it grows with each attempt. */
  initialBackoff: option(duration('1ms'), {
    flag: 'audit-webhook-initial-backoff',
    default: '10s',
    meaning: 'Time before a failed post is repeated',
    upstream: '--audit-webhook-initial-backoff',
  }),
  ...common('webhook', { mode: 'batch', maxBatchSize: 400, maxBatchWait: '30s', throttle: true }),
})

/** Where an audit log is written, and how. */
export interface AuditLogOptions extends UserOptions<typeof AUDIT_LOG_OPTIONS> {
  readonly path: string
}
/** Where audit events are posted to, and how. */
export interface AuditWebhookOptions extends UserOptions<typeof AUDIT_WEBHOOK_OPTIONS> {}
export type ResolvedAuditLog = ResolvedOf<typeof AUDIT_LOG_OPTIONS> & { readonly path: string }
export type ResolvedAuditWebhook = ResolvedOf<typeof AUDIT_WEBHOOK_OPTIONS>

const needsBackend: Needs = {
  anyOf: ['auditLog', 'auditWebhook', 'audit'],
  otherwise: 'without effect',
  because: 'no audit log or audit webhook is given, so nothing is audited',
}
const needsPolicy: Needs = {
  anyOf: ['auditPolicy', 'auditPolicyFile'],
  otherwise: 'without effect',
  because: 'no audit policy is given, so nothing is audited',
}

const POLICY = 'an audit policy: { rules: [{ level, ... }] }'

/**
 * What is recorded of requests, and where. Nothing is without a policy, or without a backend: a
 * log, a webhook, or one of your own (`audit`).
 * @see kubernetes/apiserver pkg/server/options/audit.go AuditOptions
 */
export const AUDIT_OPTIONS = {
  /**
   * What is recorded of which requests, in upstream's format.
   * @default none
   */
  auditPolicy: option(
    { ...value<AuditPolicy>(POLICY, (given) => policyProblem(given) === undefined), wrong: policyProblem },
    { defaultWords: 'none', meaning: 'Audit policy: what is recorded about which requests', needs: needsBackend },
  ),
  /**
   * The same as a file, YAML or JSON; read when the server starts, which fails when it cannot be
   * used. Not beside `auditPolicy`.
   * @default none
   */
  auditPolicyFile: option(file(), {
    flag: 'audit-policy-file',
    defaultWords: 'none',
    meaning: 'File with the audit policy: what is recorded about which requests',
    needs: needsBackend,
    upstream: '--audit-policy-file',
  }),
  /**
   * A log of audit events.
   * @default none
   */
  auditLog: option(fieldsNeeding(AUDIT_LOG_OPTIONS, ['path'], { allowed: 'an object with path', together: wrongTruncation }), {
    defaultWords: 'none',
    meaning: 'A log of audit events',
    needs: needsPolicy,
  }),
  /**
   * A server that audit events are posted to.
   * @default none
   */
  auditWebhook: option(
    fields(AUDIT_WEBHOOK_OPTIONS, { allowed: REMOTE_ALLOWED, together: (given) => wrongRemote(given) ?? wrongTruncation(given) }),
    {
      defaultWords: 'none',
      meaning: 'A server that audit events are posted to',
      needs: needsPolicy,
    },
  ),
}

interface Given {
  readonly auditPolicy?: AuditPolicy | undefined
  readonly auditPolicyFile?: string | undefined
}

/** What the options of auditing mean for each other. */
export function checkAudit({ auditPolicy, auditPolicyFile }: Given, problems: Problems): void {
  if (auditPolicy !== undefined && auditPolicyFile !== undefined)
    problems.addForOption('auditPolicyFile', auditPolicyFile, `none beside ${problems.label('auditPolicy')}`)
}
