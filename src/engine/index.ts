/**
 * The engine, as packages build on it that are published beside this one: `@quiesce/apiserver`
 * does. It is all of the core that such a package may know. It may change in any minor version,
 * and a package that uses it says so in its range (`~0.1.0`); for programs there is `quiesce`.
 */

// Hooks, checks and user code, as the lifecycle takes them.
export type { AuditBackend, AuditCounts } from '../actors/audit.ts'
// A server with its lifecycle, in a given world, and what it lets one that is built on it see.
export { type Host, systemHost } from '../actors/host.ts'
export type { InspectedRoot } from '../actors/inspection.ts'
export type { StopCode, StopCodeContext, UserCode, UserCodeContext } from '../actors/user-code.ts'
// How the core reads what clients write, and quotes it: as Go does, whose answers health has.
export { queryTexts, queryValue } from '../base/go-query.ts'
export { goQuote } from '../base/go-quote.ts'
export { isDoubtful, pathAsSent } from '../base/request-target.ts'
export { type FetchHandler, type OwnClient, requestListener } from '../create-server.ts'
// What it answers by itself.
export type { MetricsEndpoint } from '../endpoints/metrics-endpoint.ts'
export { PROFILES, type ProfileName } from '../endpoints/profile-names.ts'
// One request on its way: what the traffic knows of it, its steps, its answer.
export type { ExchangeView, PlacedStep } from '../http/chain.ts'
export { isThenable } from '../http/emit-gate.ts'
export {
  checkedCheckOptions,
  HEALTH_ENDPOINTS,
  type Health,
  type HealthEndpointName,
  type LivezCheckOptions,
} from '../http/health/health.ts'
export { informersSynced } from '../http/health/health-built-ins.ts'
export type { Check, CheckOptions } from '../http/health/health-check.ts'
export { placeAll } from '../http/place-steps.ts'
export type { WireAnswer } from '../http/ports.ts'
export { type EncodedAnswer, PLAIN_TEXT, PLAIN_TEXT_OVER, respond } from '../http/respond.ts'
export { type Exchange, exchangeOf } from '../http/traffic/exchange.ts'
export { ExchangeList } from '../http/traffic/exchange-list.ts'
export { loopbackHeaders } from '../http/traffic/exempt.ts'
export type { FailureAnswer } from '../http/traffic/recovery.ts'
export { responseOfUpgrade, takeSocket } from '../http/upgrade-answer.ts'
export { pathOf, type RequestLike } from '../http/url.ts'
export { wrongAnswer } from '../http/wrong-answer.ts'
export type { Life } from '../lifecycle/life.ts'
export type { DefaultLog } from '../lifecycle/output.ts'
export {
  checkedFunction,
  checkedRegistration,
  checkMuxSignal,
  type DestroyOptions,
  type PreShutdownHookOptions,
} from '../lifecycle/registrations.ts'
export type { ServedLife } from '../lifecycle/served-life.ts'
export { createServedLife } from './served-life.ts'

/** Loaded when a profile is asked for. */
export const loadProfiles = (): Promise<typeof import('../endpoints/profiles.ts')> => import('../endpoints/profiles.ts')

// Errors, the clock, and what is written of both.
export { checkArguments, withFields, withOptions } from '../base/arguments.ts'
export { stackOfCaller } from '../base/call-site.ts'
export { checkFunction, checkName } from '../base/checked.ts'
export { type Clock, systemClock } from '../base/clock.ts'
export { type Deferred, deferred } from '../base/deferred.ts'
export { allOrNone } from '../base/disposables.ts'
export { DURATION_ALLOWED, type Duration, formatDuration, isDuration, parseDuration } from '../base/duration.ts'
export { optionError, QuiesceError, show, toError } from '../base/errors.ts'
export { errorRecord, type LifecycleFact } from '../base/events.ts'
export { checkFields } from '../base/fields.ts'
export { lineASecond, linesASecond } from '../base/line-a-second.ts'
export { look, variable } from '../base/look.ts'
// The kit of option tables, and the rows of a server.
export { ownFields } from '../base/own-fields.ts'
export { isFieldsOnly } from '../base/records.ts'
export { Registry } from '../base/registry.ts'
export { type Warning, warningsOf } from '../base/warnings.ts'
export type { RefusalWords, Wording } from '../base/wording.ts'
export type { EventLog } from '../log/event-log.ts'
export { stdoutDestination } from '../log/log-destination.ts'
// Metrics.
export type { Count, Counter } from '../metrics/counter.ts'
export type { MetricFamily } from '../metrics/family.ts'
export type { Gauge, Level } from '../metrics/gauge.ts'
export { type Distribution, exponentialBounds, type Histogram } from '../metrics/histogram.ts'
export { MetricRegistry } from '../metrics/registry.ts'
export { OTHER, SERIES_MAX, SeriesMap } from '../metrics/series.ts'
export {
  type AnyOption,
  composeOptions,
  defineOptions,
  type Kind,
  type Needs,
  type OptionTable,
  option,
  type ResolvedOf,
  resolveOptions,
  type UserOptions,
} from '../options/kit/define.ts'
export {
  choice,
  duration,
  fields,
  fieldsNeeding,
  file,
  integer,
  isRecord,
  isText,
  list,
  listOf,
  onOff,
  present,
  setOf,
  text,
  value,
  withCommas,
  writtenNumber,
} from '../options/kit/kinds.ts'
export { Problems, type ProblemWording } from '../options/kit/problems.ts'
export { at, fieldPath, misspeltFieldOf, unknownField, type Wrong, wordsOf, wrongItem } from '../options/kit/wrong.ts'
export { resolveServerOptions, type ServerOptions } from '../options/options.ts'
export { SERVER_OPTIONS } from '../options/rows/lifecycle.ts'
export { TLS_OPTIONS, type TlsOptions } from '../options/rows/tls.ts'
export { wording } from '../options/rows/wording.ts'
export { onProcessExit } from '../process/process-exit.ts'
export { openFile } from '../report/open-file.ts'

// Certificates: what is trusted, and what is read anew when its file has changed.
export { type ClientCa, checkClientCa, NO_CLIENT_CA } from '../tls/client-ca.ts'
export { clientCaOf, type FurtherCas } from '../tls/client-trust.ts'
export { tlsError } from '../tls/pair.ts'
export { Provider } from '../tls/provider.ts'
export { caProvider } from '../tls/providers.ts'
export { Reloader } from '../tls/reloader.ts'
export type { OwnPair } from '../tls/settings.ts'

/** Loaded by a server that makes a certificate. */
export const loadSelfSigned = (): Promise<typeof import('../tls/self-signed.ts')> => import('../tls/self-signed.ts')
