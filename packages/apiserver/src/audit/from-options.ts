import type { AuditBackend, Clock } from '../engine.ts'
import { RemoteClient } from '../webhook/client.ts'
import { remoteOf } from '../webhook/options.ts'
import { Auditing, auditCounters, givenBackend } from './auditing.ts'
import type { EventBackend, PluginFailed } from './backend.ts'
import { BufferedBackend } from './buffered.ts'
import { fileWriter } from './file-writer.ts'
import { ignoreErrors } from './ignore-errors.ts'
import { stdoutWriter } from './line-writers.ts'
import { type LineWriter, logBackend } from './log-backend.ts'
import type { ResolvedAuditLog, ResolvedAuditWebhook } from './options.ts'
import type { AuditPolicy } from './policy.ts'
import { Rotation } from './rotation.ts'
import { truncateBackend } from './truncate.ts'
import { unionBackend } from './union.ts'
import { ATTEMPT_MS, WebhookBackend, type WebhookWorld } from './webhook-backend.ts'

export interface AuditSettings {
  readonly auditPolicy: AuditPolicy | undefined
  readonly auditPolicyFile: string | undefined
  readonly auditLog: ResolvedAuditLog | undefined
  readonly auditWebhook: ResolvedAuditWebhook | undefined
  /** The user's own. */
  readonly audit?: AuditBackend | undefined
}

export interface AuditWorld {
  readonly clock: Clock
  readonly random: () => number
  /** Reports events that could not be stored. */
  readonly failed: PluginFailed
}

/**
 * What a server records, by its options; undefined without a policy or without a backend.
 * @see kubernetes/apiserver pkg/server/options/audit.go AuditOptions.ApplyTo
 */
export function auditingFrom(settings: AuditSettings, { clock, random, failed: report }: AuditWorld): Auditing | undefined {
  const { auditPolicyFile, auditPolicy, auditLog, auditWebhook, audit } = settings
  const policy = auditPolicy ?? (auditPolicyFile === undefined ? undefined : { file: auditPolicyFile })
  const counters = auditCounters()
  const failed: PluginFailed = (plugin, error, events) => {
    counters.errors[plugin] = (counters.errors[plugin] ?? 0) + events
    report(plugin, error, events)
  }
  const backends: readonly EventBackend[] = [
    ...(audit ? [givenBackend(audit, failed)] : []),
    ...(auditLog ? [inMode(logBackend(writerOf(auditLog, clock, failed), auditLog.format, failed), auditLog, false, clock, failed)] : []),
    ...(auditWebhook ? [inMode(webhookOf(auditWebhook, { clock, random, failed }), auditWebhook, true, clock, failed)] : []),
  ]
  const [first, ...others] = backends
  if (policy === undefined || first === undefined) return undefined
  return new Auditing(clock, policy, others.length === 0 ? first : unionBackend(backends), counters)
}

function writerOf(settings: ResolvedAuditLog, clock: Clock, failed: PluginFailed): LineWriter {
  const { path } = settings
  if (path === '-') return stdoutWriter()
  return fileWriter(path, new Rotation(settings, clock, (error) => failed('log', error, 0)))
}

const webhookOf = (settings: ResolvedAuditWebhook, world: WebhookWorld): EventBackend =>
  new WebhookBackend(new RemoteClient(remoteOf(settings), ATTEMPT_MS), settings.initialBackoffMs, world)

/** What is too large is cut behind the queue, so that the batches which leave are small enough. */
function inMode(
  backend: EventBackend,
  settings: ResolvedAuditLog | ResolvedAuditWebhook,
  isAsync: boolean,
  clock: Clock,
  failed: PluginFailed,
): EventBackend {
  const { mode, bufferSize, maxBatchSize, maxBatchWaitMs, throttle, throttleQps, throttleBurst } = settings
  const { truncate, truncateMaxEventSize, truncateMaxBatchSize } = settings
  const sizes = { maxEventSize: truncateMaxEventSize, maxBatchSize: truncateMaxBatchSize }
  const fitting = truncate ? truncateBackend(backend, sizes, failed) : backend
  if (mode === 'blocking-strict') return fitting
  if (mode === 'blocking') return ignoreErrors(fitting)
  const limits = throttle ? { qps: throttleQps, burst: throttleBurst } : undefined
  return new BufferedBackend(fitting, { bufferSize, maxBatchSize, maxWaitMs: maxBatchWaitMs, throttle: limits, isAsync }, { clock, failed })
}
