import { goQuote, toError } from '../engine.ts'
import { AuditCounter, after, type EventBackend, type PluginFailed } from './backend.ts'
import { type AuditEvent, eventJson } from './event.ts'

/** Where lines go. A promise is waited for before a line counts as stored. */
export interface LineWriter {
  /** Opens the writer before the first line; a failure is a failed start. */
  open?(): void | Promise<void>
  /** One line, with its newline. Throws, or rejects, when it could not be written. */
  write(line: string): void | Promise<void>
  /**
   * Several lines at a time, where that costs less. Never throws.
   * @returns how many of them, from the first on, were written whole
   */
  writeAll?(lines: readonly string[]): number | Promise<number>
  /** Closes the writer after the last line; resolves when all that were written have arrived. */
  close?(signal: AbortSignal): void | Promise<void>
}

export const LOG_FORMATS = ['json', 'legacy'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]

/**
 * A line for each event. All events of a call are tried; false when one of them failed.
 * @see kubernetes/apiserver plugin/pkg/audit/log/backend.go
 */
export function logBackend(writer: LineWriter, format: LogFormat, failed: PluginFailed): EventBackend {
  const counter = new AuditCounter()
  const lineOf = format === 'json' ? eventJson : legacyLine
  const fail = (thrown: unknown): boolean => {
    failed('log', toError(thrown), 1)
    return counter.settle(1, false)
  }
  const storeEach = (events: readonly AuditEvent[]): boolean | Promise<boolean> => {
    let all: boolean | Promise<boolean> = true
    for (const event of events) {
      const verdict = store(event)
      all = after(all, (areStored) => after(verdict, (isStored) => areStored && isStored) as boolean)
    }
    return all
  }
  /** Stores the events behind the written ones, which failed, with one more chance each. */
  const storeRest = (events: readonly AuditEvent[], written: number): boolean | Promise<boolean> => {
    counter.settle(written, true)
    return written === events.length || storeEach(events.slice(written))
  }
  const store = (event: AuditEvent): boolean | Promise<boolean> => {
    try {
      const written = writer.write(lineOf(event))
      return written === undefined ? counter.settle(1, true) : written.then(() => counter.settle(1, true), fail)
    } catch (thrown) {
      return fail(thrown)
    }
  }
  return {
    run: () => writer.open?.(),
    processEvents: (events) => {
      counter.accepted += events.length
      if (events.length === 1 || writer.writeAll === undefined) return storeEach(events)
      const written = writer.writeAll(events.map(lineOf))
      return typeof written === 'number' ? storeRest(events, written) : written.then((count) => storeRest(events, count))
    },
    shutdown: ({ signal }) => writer.close?.(signal),
    counts: () => counter.counts(),
  }
}

/** The line with its newline. @see kubernetes/apiserver pkg/audit/format.go EventString */
function legacyLine(event: AuditEvent): string {
  const { user, impersonatedUser, responseStatus, objectRef, sourceIPs = [] } = event
  const quoted = (text: string | undefined, otherwise: string): string => goQuote(text === undefined || text === '' ? otherwise : text)
  // The list is quoted as a whole, too: its own quotes stand behind backslashes.
  const groups = (list: readonly string[] = [], otherwise: string): string => quoted(list.map(goQuote).join(','), otherwise)
  const fields = {
    AUDIT: `id=${quoted(event.auditID, '')}`,
    stage: quoted(event.stage, ''),
    ip: quoted(sourceIPs[0], '<unknown>'),
    method: quoted(event.verb, ''),
    user: quoted(user.username, '<none>'),
    groups: groups(user.groups, '<none>'),
    as: quoted(impersonatedUser?.username, '<self>'),
    asgroups: groups(impersonatedUser?.groups, '<lookup>'),
    'user-agent': quoted(event.userAgent, ''),
    namespace: quoted(objectRef?.namespace, '<none>'),
    uri: quoted(event.requestURI, ''),
    response: `"${responseStatus?.code ?? '<deferred>'}"`,
  }
  const { AUDIT, ...rest } = fields
  return `${withoutZeros(event.requestReceivedTimestamp)} AUDIT: ${AUDIT} ${Object.entries(rest)
    .map(([name, text]) => `${name}=${text}`)
    .join(' ')}\n`
}

/**
 * A time as Go's RFC3339Nano has it: no fraction of a second ends in a zero, and one of nothing is
 * left out.
 */
const withoutZeros = (time: string): string =>
  time.replace(/(\.\d*?)0+Z$/, (_, fraction: string) => (fraction === '.' ? 'Z' : `${fraction}Z`))
