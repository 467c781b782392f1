import { checkName } from '../../base/checked.ts'
import type { Clock } from '../../base/clock.ts'
import { didYouMean } from '../../base/did-you-mean.ts'
import { allOrNone } from '../../base/disposables.ts'
import { type Duration, parseDuration } from '../../base/duration.ts'
import { QuiesceError, show } from '../../base/errors.ts'
import { checkFields } from '../../base/fields.ts'
import { neutralWording } from '../../base/neutral-wording.ts'
import { type MetricWords, STATUS_LABEL } from '../../base/wording.ts'
import type { MetricFamily } from '../../metrics/family.ts'
import type { Answer, ResponseLike } from '../respond.ts'
import { pathOf, type RequestLike } from '../url.ts'
import type { HealthAnswers } from './health-answer.ts'
import { hookFinished, logFlushed, notShuttingDown, ping, readyByHand, started } from './health-built-ins.ts'
import { CHECK_TIMEOUT_MS, type Check, type CheckOptions, type CheckOutcome, NamedCheck } from './health-check.ts'
import { type CheckStatus, HealthEndpoint, type HealthObserver } from './health-endpoint.ts'

/**
 * `healthz` is the union page, `livez` says whether to restart the process, `readyz` whether to
 * send it traffic.
 */
export type HealthEndpointName = 'healthz' | 'livez' | 'readyz'

/** Where they answer, when no other path is given. */
export const HEALTH_PATHS = { healthz: '/healthz', livez: '/livez', readyz: '/readyz' } as const satisfies Record<
  HealthEndpointName,
  string
>

export const HEALTH_ENDPOINTS = Object.keys(HEALTH_PATHS) as readonly HealthEndpointName[]

/**
 * Which checks a further endpoint has: those of one of the three, `all` of them, or those that are
 * named.
 */
export type HealthSource = HealthEndpointName | 'all' | readonly string[]

export interface HealthSettings extends Omit<HealthObserver, 'onFirstPass'> {
  /**
   * A check of the user's fails, or passes again; once for each turn, however often and wherever it
   * is asked for. Must not throw.
   */
  readonly onTurn?: (name: string, outcome: CheckOutcome) => void
  readonly clock: Clock
  /** Whether it starts, asked at each probe of `/readyz`; true until Serving. Default: never. */
  readonly isStarting?: () => boolean
  /**
   * The mux-complete signals that are not there yet, asked at each probe of `/readyz`, whose
   * verbose answer names them.
   */
  readonly pendingMux?: () => readonly string[]
  /** Whether it shuts down, asked at each probe of `/readyz`; true from ShutdownInitiated on. */
  readonly isShuttingDown: () => boolean
  /** Milliseconds since the log was last flushed. Default: the log is never stuck. */
  readonly lastFlushAgeMs?: () => number
  /** Longest time of a check that states none itself. Default {@link CHECK_TIMEOUT_MS}. */
  readonly checkTimeoutMs?: number
  /** How long the checks of post-start hooks pass on `/livez`, from their registration on. */
  readonly livezGraceMs: number
  /** Other places for the endpoints. Default `/healthz`, `/livez`, `/readyz`. */
  readonly paths?: Partial<Readonly<Record<HealthEndpointName, string>>>
  /** Further endpoints, by path. */
  readonly extra?: Readonly<Record<string, HealthSource>> | undefined
  /** How all of them answer. Default: as upstream. */
  readonly answers?: HealthAnswers
  /** How the metrics are named. Default: neutral. */
  readonly metrics?: MetricWords
  /**
   * `/readyz` has passed for the first time: HasBeenReady. Called once, before the answer is sent.
   */
  readonly onFirstReady?: () => void
}

export interface HookCheckOptions {
  readonly livezGraceMs?: number
}

/**
 * What a check was given beside its function: only on `/livez` it may have a delay.
 * @throws QuiesceError ERR_NAME_MISSING, ERR_OPTION_INVALID
 */
export function checkedCheckOptions(on: HealthEndpointName, name: string, given: LivezCheckOptions = {}) {
  checkName('a health check', name)
  const of = `health check ${show(name)}`
  const options = checkFields(of, given, on === 'livez' ? ['timeout', 'group', 'delay'] : ['timeout', 'group'])
  const { timeout, group, delay = 0 } = options
  if (timeout !== undefined) parseDuration(`timeout of ${of}`, timeout)
  const delayMs = parseDuration(`delay of ${of}`, delay)
  return { ...(timeout !== undefined && { timeout }), ...(group !== undefined && { group }), delayMs }
}

export interface LivezCheckOptions extends CheckOptions {
  /** How long the check passes without being run, from now on. Default 0. */
  readonly delay?: Duration
}

/**
 * The health endpoints of one server: three registries, each with its root path and one path per
 * check, answered on plain node requests and responses in front of any framework, and on the admin
 * listener.
 *
 * Every `add…` throws ERR_NAME_MISSING or ERR_FUNCTION_MISSING for what is missing,
 * ERR_OPTION_INVALID for a bad option, ERR_TOO_LATE once installed, and ERR_DUPLICATE, with the
 * place of the first registration, for a name that is taken. It returns a Disposable that removes
 * the check, until installed.
 *
 * @see kubernetes/apiserver pkg/server/healthz.go
 */
export class Health {
  readonly #clock: Clock
  readonly #isShuttingDown: () => boolean
  readonly #livezGraceMs: number
  readonly #checkTimeoutMs: number
  readonly #endpoints: Readonly<Record<HealthEndpointName, HealthEndpoint>>
  readonly #all: readonly HealthEndpoint[]
  readonly #metrics: MetricWords
  readonly #extra: readonly { readonly endpoint: HealthEndpoint; readonly source: HealthSource }[]
  /** Whether the path of an endpoint may begin like this, by the code of its second character. */
  readonly #mayBeginWith: readonly boolean[]
  #isReadyByHand: { readonly reason: string | undefined } | undefined
  #installed = false
  readonly #onTurn: HealthSettings['onTurn']

  constructor({
    clock,
    isStarting = () => false,
    pendingMux,
    isShuttingDown,
    lastFlushAgeMs = () => 0,
    livezGraceMs,
    checkTimeoutMs = CHECK_TIMEOUT_MS,
    paths = {},
    extra = {},
    answers = {},
    metrics = neutralWording().metrics,
    onFirstReady,
    onTurn,
    ...observer
  }: HealthSettings) {
    this.#clock = clock
    this.#isShuttingDown = isShuttingDown
    this.#livezGraceMs = livezGraceMs
    this.#checkTimeoutMs = checkTimeoutMs
    this.#metrics = metrics
    this.#onTurn = onTurn
    const { healthz, livez, readyz } = { ...HEALTH_PATHS, ...paths }
    this.#endpoints = {
      healthz: new HealthEndpoint(healthz, clock, observer, answers),
      livez: new HealthEndpoint(livez, clock, observer, answers),
      readyz: new HealthEndpoint(
        readyz,
        clock,
        { ...observer, pending: pendingMux, ...(onFirstReady && { onFirstPass: onFirstReady }) },
        answers,
      ),
    }
    this.#all = [this.#endpoints.healthz, this.#endpoints.livez, this.#endpoints.readyz]
    this.#extra = Object.entries(extra).map(([path, source]) => ({ endpoint: new HealthEndpoint(path, clock, observer, answers), source }))
    this.#mayBeginWith = secondCharacters(this.#everywhere.map(({ path }) => path))
    this.addCheck('ping', ping)
    this.addCheck('log', logFlushed(lastFlushAgeMs))
    const byHand = this.#latchedCheck(
      'set-ready',
      readyByHand(() => this.#isReadyByHand?.reason),
    )
    this.#endpoints.readyz.add(byHand, 0, () => this.#isReadyByHand !== undefined)
    this.#endpoints.readyz.add(this.#latchedCheck('startup', started(isStarting)), 0, isStarting)
  }

  /** Switches readiness by hand: the check `set-ready`, which is there from the first time on. */
  setReady(ready: boolean, reason = 'not ready'): void {
    this.#isReadyByHand = { reason: ready ? undefined : reason }
  }

  addHealthzCheck(name: string, check: Check, options: CheckOptions = {}): Disposable {
    return this.#endpoints.healthz.add(this.#named(name, check, options))
  }

  addLivezCheck(name: string, check: Check, options: LivezCheckOptions = {}): Disposable {
    const { delayMs, ...shared } = checkedCheckOptions('livez', name, options)
    return this.#endpoints.livez.add(this.#named(name, check, shared), delayMs)
  }

  addReadyzCheck(name: string, check: Check, options: CheckOptions = {}): Disposable {
    return this.#endpoints.readyz.add(this.#named(name, check, options))
  }

  /** Adds a check on all three endpoints, or on none; they share its runs. */
  addCheck(name: string, check: Check, options: CheckOptions = {}): Disposable {
    return this.#addEverywhere(this.#named(name, check, options), 0)
  }

  /**
   * `poststarthook/NAME` on all three endpoints, for a hook that the server must have finished to
   * be healthy.
   * @param livezGraceMs how long it passes on `/livez`; default: that of the endpoints
   */
  addPostStartHookCheck(
    hookName: string,
    hasFinished: () => boolean,
    { livezGraceMs = this.#livezGraceMs }: HookCheckOptions = {},
  ): Disposable {
    return this.#addEverywhere(this.#latchedCheck(`poststarthook/${hookName}`, hookFinished(hasFinished)), livezGraceMs)
  }

  /**
   * Starts answering and refuses further checks; `shutdown` comes last on `/readyz`. Until then
   * {@link handle} knows no path. A second call does nothing.
   */
  install(): void {
    if (this.#installed) return
    this.#installed = true
    const { healthz, livez, readyz } = this.#endpoints
    healthz.install()
    livez.install()
    readyz.add(this.#latchedCheck('shutdown', notShuttingDown(this.#isShuttingDown)))
    readyz.install()
    for (const { endpoint, source } of this.#extra) {
      for (const from of typeof source === 'string' && source !== 'all' ? [this.#endpoints[source]] : this.#all)
        endpoint.share(from, typeof source === 'string' ? undefined : source)
      endpoint.install()
    }
  }

  /**
   * @throws QuiesceError ERR_UNKNOWN_REFERENCE when a further endpoint names a check that there is
   * not; checks may be added in any order.
   */
  checkReferences(): void {
    for (const { endpoint, source } of this.#extra) {
      const unknown = typeof source === 'string' ? undefined : source.find((name) => !this.#all.some((from) => from.has(name)))
      if (unknown === undefined) continue
      const known = [...new Set(this.#all.flatMap((from) => from.checkNames))]
      const hint = didYouMean(unknown, known)
      const message = `health: ${endpoint.path} names the check ${show(unknown)}${hint}, known checks: ${known.join(', ')}`
      throw new QuiesceError('ERR_UNKNOWN_REFERENCE', message, { path: endpoint.path, unknown })
    }
  }

  /**
   * Answers requests for health paths, whatever their method, and says whether it does. Most other
   * paths cost a look at two characters, and the rest a comparison per endpoint and a look for
   * escapes. Never throws.
   */
  handle(request: RequestLike, response: ResponseLike): boolean {
    const { url = '' } = request
    if (!this.#mayName(url)) return false
    const isEscaped = url.includes('%')
    for (const endpoint of this.#all) if (endpoint.handle(request, response, isEscaped)) return true
    for (const { endpoint } of this.#extra) if (endpoint.handle(request, response, isEscaped)) return true
    return false
  }

  /**
   * The answer that {@link handle} gives to a request for this decoded path, for what is mounted
   * elsewhere; undefined for a path of none.
   */
  answer(path: string, request: RequestLike): Promise<Answer> | undefined {
    for (const endpoint of this.#everywhere) {
      const answer = endpoint.answer(path, request)
      if (answer) return answer
    }
    return undefined
  }

  /** Whether {@link handle} would answer. */
  answers({ url = '' }: RequestLike): boolean {
    return this.#mayName(url) && this.#everywhere.some((endpoint) => endpoint.answers(pathOf(url)))
  }

  /** The paths of the endpoints, in the order in which they are asked. */
  get paths(): readonly string[] {
    return this.#everywhere.map(({ path }) => path)
  }

  #mayName(url: string): boolean {
    const second = url.length > 1 ? url.charCodeAt(1) : 0
    return !url.startsWith('/') || this.#mayBeginWith[second] !== false
  }

  /** Names of an endpoint's checks, in order of registration. */
  checkNames(endpoint: HealthEndpointName): readonly string[] {
    return this.#endpoints[endpoint].checkNames
  }

  /** How the checks of an endpoint stand, without running any. */
  checkStatuses(endpoint: HealthEndpointName): { readonly path: string; readonly checks: readonly CheckStatus[] } {
    const { path, checkStatuses } = this.#endpoints[endpoint]
    return { path, checks: checkStatuses }
  }

  /** Served at `/metrics`, as upstream does. */
  requestMetrics(): readonly MetricFamily[] {
    const { name, help, pathLabel, labels } = this.#metrics.requests
    const samples = this.#everywhere.flatMap(({ path, requestTotals }) =>
      requestTotals.map(({ code, count }) => ({ labels: { ...labels, [pathLabel]: path, [STATUS_LABEL]: code }, value: count })),
    )
    return [{ name, help, type: 'counter', samples }]
  }

  /** Served at `/metrics/slis`, as upstream does. */
  checkMetrics(): readonly MetricFamily[] {
    const states = this.#everywhere.flatMap((endpoint) => endpoint.checkStates)
    const totals = this.#everywhere.flatMap((endpoint) => endpoint.checkTotals)
    return [
      { ...this.#metrics.check, type: 'gauge', samples: states },
      { ...this.#metrics.checks, type: 'counter', samples: totals },
    ]
  }

  get #everywhere(): readonly HealthEndpoint[] {
    return [...this.#all, ...this.#extra.map(({ endpoint }) => endpoint)]
  }

  #named(name: string, check: Check, given: CheckOptions): NamedCheck {
    const { delayMs: _, ...options } = checkedCheckOptions('readyz', name, given)
    return new NamedCheck(name, check, { timeout: this.#checkTimeoutMs, ...options }, this.#clock, this.#onTurn)
  }

  /** Says where the life stands: failing is no turn for the worse. */
  #latchedCheck(name: string, check: Check): NamedCheck {
    return new NamedCheck(name, check, { timeout: this.#checkTimeoutMs }, this.#clock)
  }

  #addEverywhere(check: NamedCheck, livezDelayMs: number): Disposable {
    return allOrNone(this.#all, (endpoint) => endpoint.add(check, endpoint === this.#endpoints.livez ? livezDelayMs : 0))
  }
}

/** A target that begins otherwise names none of these paths; one that begins with an escape may. */
function secondCharacters(paths: readonly string[]): readonly boolean[] {
  const codes = new Set(['/%', ...paths].map((path) => path.charCodeAt(1)))
  return Array.from({ length: 256 }, (_, code) => codes.has(code))
}
