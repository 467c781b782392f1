import { readFile } from 'node:fs/promises'
import type { ApiExchange } from '../api-exchange.ts'
import { finds } from '../encoding/write-object.ts'
import type { AuditBackend, Clock } from '../engine.ts'
import { headerText } from '../first-header.ts'
import { IMPERSONATOR } from '../impersonation/impersonator.ts'
import { latencyAnnotations } from '../latency.ts'
import { microTime } from '../micro-time.ts'
import { otherReadingsOf } from '../readings.ts'
import { beforeEnd } from '../request/answer-end.ts'
import { failureStatus } from '../status.ts'
import type { Failure } from '../status-errors.ts'
import { AuditCounter, after, afterShutdown, type EventBackend, type PluginFailed } from './backend.ts'
import {
  AUDIT_VERSION,
  type AuditEvent,
  type AuditedStatus,
  type AuditLevel,
  type AuditStage,
  requestPart,
  sorted,
  userPart,
} from './event.ts'
import { type Attributes, type AuditPolicy, parseAuditPolicy, policyEvaluator, type RequestAuditConfig, strictestOf } from './policy.ts'
import { AUDIT, auditResponseObject, RequestAudit, records } from './request-audit.ts'

/**
 * How much was audited; plain counters, under the names that their metrics have upstream.
 * @see kubernetes/apiserver pkg/audit/metrics.go
 */
export interface AuditCounters {
  /** `apiserver_audit_event_total` */
  events: number
  /** `apiserver_audit_level_total`, by level. */
  readonly levels: Record<AuditLevel, number>
  /** `apiserver_audit_error_total`, by plugin. */
  readonly errors: Record<string, number>
  /** `apiserver_audit_requests_rejected_total` */
  rejected: number
}

export const auditCounters = (): AuditCounters => ({
  events: 0,
  levels: { None: 0, Metadata: 0, Request: 0, RequestResponse: 0 },
  errors: {},
  rejected: 0,
})

/**
 * Has a request recorded that a filter refuses before it comes to that of auditing, by what it is
 * answered with; by `otherwise` where its client takes that in no form.
 */
export type RecordFailure = (exchange: ApiExchange, failure: Failure, otherwise?: string) => void

/** What an answer is recorded as, when its status alone does not say it. */
export interface RecordedStatus {
  readonly status?: string
  readonly message?: string
  readonly reason?: string
  readonly details?: unknown
  readonly code: number
}

/**
 * What is recorded of requests, by whom it is decided and where it goes: a policy and a backend. It
 * is the engine's backend itself, so it is run before the first request and shut down after the
 * last.
 */
export class Auditing implements AuditBackend {
  readonly counters: AuditCounters
  /** Runs when the server drains no more, while the backend still takes events. */
  beforeStop: () => void = () => {}
  readonly #clock: Clock
  readonly #backend: EventBackend
  readonly #policy: AuditPolicy | { readonly file: string }
  #evaluate: (attributes: Attributes) => RequestAuditConfig

  /** @param policy read when the server starts, where it is a file */
  constructor(clock: Clock, policy: AuditPolicy | { readonly file: string }, backend: EventBackend, counters = auditCounters()) {
    this.#clock = clock
    this.#backend = backend
    this.#policy = policy
    this.counters = counters
    this.#evaluate = policyEvaluator('file' in policy ? { rules: [] } : policy)
  }

  async run(context: { readonly signal: AbortSignal }): Promise<void> {
    // Before the backend listens: it takes nothing more when it hears of it.
    context.signal.addEventListener('abort', () => this.beforeStop(), { once: true })
    if ('file' in this.#policy) {
      const { file } = this.#policy
      this.#evaluate = policyEvaluator(await parseAuditPolicy(await readFile(file, { encoding: 'utf8', signal: context.signal }), file))
    }
    await this.#backend.run(context)
  }

  shutdown(context: { readonly signal: AbortSignal }): void | Promise<void> {
    return this.#backend.shutdown(context)
  }

  counts(): ReturnType<EventBackend['counts']> {
    return this.#backend.counts()
  }

  actors(): ReturnType<NonNullable<EventBackend['actors']>> {
    return this.#backend.actors?.() ?? []
  }

  /** Asks the policy about a request; undefined when nothing of it is recorded. */
  begin(exchange: ApiExchange): RequestAudit | undefined {
    const { level, omits, omitManagedFields } = this.#configOf(exchange)
    this.counters.levels[level]++
    const audit = AUDIT.of(exchange) ?? (level === 'None' ? undefined : new RequestAudit())
    if (audit === undefined) return undefined
    audit.level = level
    if (level === 'None') return undefined
    AUDIT.set(exchange, audit)
    audit.omits = omits
    audit.omitManagedFields = omitManagedFields
    audit.id = headerText(exchange.auditId)
    audit.part = requestPart(exchange)
    audit.user = userPart(exchange.user)
    audit.wallOffset = this.#clock.wall() - this.#clock.now()
    audit.received = microTime(exchange.receivedAt + audit.wallOffset)
    return audit
  }

  /**
   * Whether the event was stored, or is none by the policy.
   * @param now of the clock, where it was asked already
   */
  record(exchange: ApiExchange, stage: AuditStage, status?: RecordedStatus, now?: number): boolean | Promise<boolean> {
    const audit = AUDIT.of(exchange)
    if (audit === undefined || audit.level === 'None' || audit.omits.has(stage)) return true
    this.counters.events++
    const stageTimestamp = stage === 'RequestReceived' ? audit.received : microTime((now ?? this.#clock.now()) + audit.wallOffset)
    return this.#backend.processEvents([eventOf(exchange, audit, stage, stageTimestamp, status)])
  }

  /**
   * The last event of a request; of a slow one it says where its time went.
   * @returns as {@link record}
   */
  recordEnd(exchange: ApiExchange, stage: AuditStage, status: RecordedStatus): boolean | Promise<boolean> {
    const audit = AUDIT.of(exchange)
    if (audit === undefined) return true
    const now = this.#clock.now()
    const latency = latencyAnnotations(exchange, now - exchange.receivedAt)
    if (latency !== undefined) audit.annotations = { ...audit.annotations, ...latency }
    return this.record(exchange, stage, status, now)
  }

  /**
   * Records a request that is answered before it comes to the filter `audit`, such as one whose
   * credentials are wrong: one event, of the stage ResponseStarted.
   * @see kubernetes/apiserver pkg/endpoints/filters/authn_audit.go WithFailedAuthenticationAudit,
   * request_deadline.go withFailedRequestAudit
   */
  readonly recordFailure: RecordFailure = (exchange, failure, otherwise = failure.message) => {
    const audit = this.begin(exchange)
    if (audit === undefined) return
    const status = finds(exchange.request) ? { status: 'Failure', ...failure } : { message: otherwise, code: failure.code }
    if (finds(exchange.request)) auditResponseObject(exchange.request, failureStatus(failure))
    const verdict = this.record(exchange, 'ResponseStarted', status)
    audit.isDone = true
    if (typeof verdict !== 'boolean') beforeEnd(exchange, () => verdict)
  }

  /**
   * The policy's answer for a request; of a target that can be read in several ways, what each of
   * them is recorded for (V40).
   */
  #configOf(exchange: ApiExchange): RequestAuditConfig {
    const config = this.#evaluate(exchange)
    const others = otherReadingsOf(exchange)
    return others.length === 0 ? config : strictestOf([config, ...others.map((info) => this.#evaluate({ user: exchange.user, info }))])
  }
}

function eventOf(
  exchange: ApiExchange,
  audit: RequestAudit,
  stage: AuditStage,
  stageTimestamp: string,
  status: RecordedStatus | undefined,
): AuditEvent {
  const { requestURI, verb, sourceIPs, userAgent, objectRef } = audit.part as NonNullable<typeof audit.part>
  const { level, annotations, requestObject, responseObject, impersonationConstraint } = audit
  return {
    kind: 'Event',
    apiVersion: AUDIT_VERSION,
    level,
    auditID: audit.id,
    stage,
    requestURI,
    verb,
    user: audit.user,
    impersonatedUser: IMPERSONATOR.of(exchange) && userPart(exchange.user),
    authenticationMetadata: impersonationConstraint === undefined ? undefined : { impersonationConstraint },
    sourceIPs,
    userAgent,
    objectRef,
    responseStatus: status && statusPart(status),
    requestObject,
    responseObject: records(level, 'RequestResponse') ? responseObject : undefined,
    requestReceivedTimestamp: audit.received,
    stageTimestamp,
    annotations: annotations && sorted(annotations),
  }
}

/** The part of a status in the order of upstream's fields. */
const statusPart = ({ status, message, reason, details, code }: RecordedStatus): AuditedStatus => ({
  metadata: NO_METADATA,
  status,
  message,
  reason,
  details,
  code,
})
const NO_METADATA = {}

/**
 * A backend of the user's, which may take no events, and count none. After its shutdown it is given
 * none.
 */
export function givenBackend(backend: AuditBackend, failed: PluginFailed): EventBackend {
  const counter = new AuditCounter()
  let lostAfterShutdown = 0
  let isShut = false
  return {
    run: (context) => backend.run(context),
    processEvents: (events) => {
      if (backend.processEvents === undefined) return true
      if (isShut) {
        lostAfterShutdown += events.length
        failed('given', afterShutdown(), events.length)
        return false
      }
      counter.accepted += events.length
      return after(backend.processEvents(events), (isStored) => counter.settle(events.length, isStored))
    },
    shutdown: async (context) => {
      try {
        await backend.shutdown(context)
      } finally {
        isShut = true
      }
    },
    actors: () => backend.actors?.() ?? [],
    counts: () => {
      const counts = backend.counts?.() ?? counter.counts()
      return lostAfterShutdown === 0 ? counts : { ...counts, lost: counts.lost + lostAfterShutdown }
    },
  }
}
