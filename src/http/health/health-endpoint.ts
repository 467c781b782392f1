import type { Clock } from '../../base/clock.ts'
import { optionError, show, toError } from '../../base/errors.ts'
import { queryTexts } from '../../base/go-query.ts'
import { goQuote } from '../../base/go-quote.ts'
import { Registry } from '../../base/registry.ts'
import type { MetricSample } from '../../metrics/family.ts'
import { type Answer, PLAIN_TEXT, type ResponseLike, respond } from '../respond.ts'
import { pathOf, type RequestLike } from '../url.ts'
import { type CheckResult, type HealthAnswers, shaped } from './health-answer.ts'
import { ping } from './health-built-ins.ts'
import { type CheckOutcome, NamedCheck, PASSED } from './health-check.ts'

/**
 * What happened on an endpoint. The callbacks must not throw; one that does is reported to
 * `onError`.
 */
export interface HealthObserver {
  /** The endpoint passed for the first time; called once, before the answer is sent. */
  readonly onFirstPass?: (endpoint: string) => void
  /**
   * The endpoint failed, and which of its checks did, with the reasons that the answer withholds.
   */
  readonly onFailed?: (endpoint: string, failed: readonly FailedCheck[]) => void
  readonly onError?: (error: Error) => void
  /** Names of what is not there yet, which the answer names too and which fails nothing. */
  readonly pending?: (() => readonly string[]) | undefined
}

export interface FailedCheck {
  readonly name: string
  readonly reason: string
}

interface Entry {
  readonly check: NamedCheck
  /** Whether the check is there now; without it, it always is. */
  readonly isShown?: () => boolean
  /** `clock.now()` until which the check passes without being run. */
  readonly passesUntil: number
}

interface CheckLine {
  readonly name: string
  readonly text: string
  readonly excludedBy?: string
  readonly failed?: FailedCheck
}

/** The counts behind the metrics of one check. */
interface CheckCounts {
  success: number
  error: number
  last: 'success' | 'error'
  /** Why it failed last, when it did. */
  reason: string | undefined
}

/** How a check stands by the last request for the endpoint. */
export interface CheckStatus {
  readonly name: string
  /** Undefined before the first. */
  readonly passed?: boolean
  /** The reason of a check that failed, for eyes that may see what the root withholds. */
  readonly reason?: string
}

const TEXT = { 'Content-Type': PLAIN_TEXT['Content-Type'] }

/**
 * One health endpoint: the union of its checks at its path, and each check by itself below it. The
 * root runs all checks at once, so that it takes as long as the slowest and not as all together
 * (upstream runs one after the other, without a bound); lines keep the order of registration.
 * Reasons appear only below the root, where access can be restricted.
 *
 * @see kubernetes/apiserver pkg/server/healthz/healthz.go
 */
export class HealthEndpoint {
  readonly path: string
  /** The first segment of the path, as it stands in the last line of an answer. */
  readonly name: string
  readonly #clock: Clock
  readonly #observer: HealthObserver
  readonly #answers: HealthAnswers
  readonly #entries: Registry<Entry>
  readonly #counts = new Map<string, CheckCounts>()
  readonly #requests = new Map<number, number>()
  #installed = false
  #hasPassed = false

  /** @throws QuiesceError ERR_OPTION_INVALID when `path` is not of the form `/a` or `/a/b` */
  constructor(path: string, clock: Clock, observer: HealthObserver = {}, answers: HealthAnswers = {}) {
    if (!/^(\/[^/?#%]+)+$/.test(path)) throw optionError('health path', path, 'a path like /readyz')
    this.path = path
    this.name = path.split('/')[1] as string
    this.#clock = clock
    this.#observer = observer
    this.#answers = answers
    this.#entries = new Registry({
      of: 'a health check',
      tooLate: (name) =>
        `unable to add ${show(name)} because the ${path} endpoint has already been created: add checks before start() or run()`,
      duplicate: (name, at) => `unable to add ${show(name)} to ${path} because it was already registered by: ${at}`,
    })
  }

  /**
   * Adds a check, which until `delayMs` from now passes without being run. Disposing of the result
   * removes it, until installed.
   * @param isShown while it says no, the check is not there
   * @throws QuiesceError ERR_TOO_LATE once installed, ERR_DUPLICATE when the name is taken,
   * ERR_NAME_MISSING
   */
  add(check: NamedCheck, delayMs = 0, isShown?: () => boolean): Disposable {
    const passesUntil = delayMs > 0 ? this.#clock.now() + delayMs : Number.NEGATIVE_INFINITY
    return this.#entries.add(check.name, { check, passesUntil, ...(isShown && { isShown }) })
  }

  /** Takes over those of another endpoint's checks that it does not have yet. */
  share(other: HealthEndpoint, names: readonly string[] = other.#entries.entries().map(([name]) => name)): void {
    for (const [name, entry] of other.#entries.entries())
      if (names.includes(name) && !this.#entries.has(name)) this.#entries.add(name, entry)
  }

  /** Whether there is such a check, shown or not. */
  has(name: string): boolean {
    return this.#entries.has(name)
  }

  get #shown(): Entry[] {
    return this.#entries.entries().flatMap(([, entry]) => (entry.isShown?.() === false ? [] : [entry]))
  }

  /**
   * Starts answering and refuses further checks. Without any check there is `ping`. A second call
   * does nothing.
   */
  install(): void {
    if (this.#installed) return
    this.#installed = true
    if (this.checkNames.length === 0) this.add(new NamedCheck('ping', ping, {}, this.#clock))
    this.#entries.close()
  }

  /** Names of the checks, in order of registration. */
  get checkNames(): readonly string[] {
    return this.#shown.map(({ check }) => check.name)
  }

  /**
   * Answers a request for the endpoint or one of its checks, whatever its method, and says whether
   * it does. False at once for every other path, and before `install()`. Never throws. As upstream,
   * it goes by the decoded path: `/%72eadyz` is `/readyz`.
   *
   * @param isEscaped whether the target has escapes; for a caller that asks several endpoints
   */
  handle(request: RequestLike, response: ResponseLike, isEscaped = (request.url ?? '').includes('%')): boolean {
    const { url = '/' } = request
    if (!isEscaped && url.startsWith('/') && !url.startsWith(this.path)) return false
    const answer = this.answer(pathOf(url), request)
    if (!answer) return false
    answer.then((it) => respond(response, it)).catch((thrown: unknown) => this.#observer.onError?.(toError(thrown)))
    return true
  }

  /**
   * The answer to a request for the endpoint or one of its checks; undefined for every other path,
   * and before `install()`.
   *
   * @param path decoded, and as if the endpoint stood at the root of its server; what else is asked
   * for stands in the request's own target
   */
  answer(path: string, request: RequestLike): Promise<Answer> | undefined {
    const named = this.#named(path)
    if (named === undefined) return undefined
    return named === 'all' ? this.#answerRoot(request, request.url ?? '') : this.#answerCheck(request, named)
  }

  /** Whether a decoded path is the endpoint's, or that of one of its checks. */
  answers(path: string): boolean {
    return this.#named(path) !== undefined
  }

  #named(path: string): 'all' | Entry | undefined {
    if (!this.#installed) return undefined
    if (path === this.path) return 'all'
    const entry = path.startsWith(`${this.path}/`) ? this.#entries.get(path.slice(this.path.length + 1)) : undefined
    return entry?.isShown?.() === false ? undefined : entry
  }

  async #answerRoot(request: RequestLike, url: string): Promise<Answer> {
    const excluded = new Set(queryTexts(url, 'exclude'))
    const lines = await Promise.all(this.#shown.map((entry) => this.#line(entry, excluded, request)))

    const matched = new Set(lines.map(({ excludedBy }) => excludedBy))
    const unmatched = [...excluded].filter((name) => !matched.has(name))
    let details = lines.map(({ text }) => text).join('')
    if (unmatched.length > 0) details += `warn: some health checks cannot be excluded: no matches for ${quoted(unmatched.sort())}\n`
    const pending = this.#observer.pending?.() ?? []
    if (pending.length > 0) details += `warn: mux-complete signals are pending: ${quoted(pending)}\n`

    const failed = lines.flatMap((line) => line.failed ?? [])
    const upstreams = failed.length > 0 ? this.#fail(failed, details) : this.#pass(queryTexts(url, 'verbose').length > 0, details)
    const checks = lines.map(({ name, excludedBy, failed }) => checkResult(name, failed?.reason, excludedBy !== undefined))
    const answer = this.#shaped(upstreams, checks, false)
    this.#requests.set(answer.status, (this.#requests.get(answer.status) ?? 0) + 1)
    return answer
  }

  /** What the root says about one check: excluded by name, excluded by group, passed or failed. */
  async #line(entry: Entry, excluded: ReadonlySet<string>, request: RequestLike): Promise<CheckLine> {
    const { name, group } = entry.check
    if (excluded.has(name)) return { name, text: `[+]${name} excluded: ok\n`, excludedBy: name }
    if (group !== undefined && excluded.has(group)) return { name, text: `[+]${name} excluded with ${group}: ok\n`, excludedBy: group }
    const outcome = await this.#run(entry, request)
    this.#count(name, outcome)
    if (outcome.passed) return { name, text: `[+]${name} ok\n` }
    return { name, text: `[-]${name} failed: reason withheld\n`, failed: { name, reason: outcome.reason } }
  }

  #pass(verbose: boolean, details: string): Answer {
    if (!this.#hasPassed) {
      this.#hasPassed = true
      this.#observe(() => this.#observer.onFirstPass?.(this.name))
    }
    return { status: 200, headers: PLAIN_TEXT, body: verbose ? `${details}${this.name} check passed\n` : 'ok' }
  }

  #fail(failed: readonly FailedCheck[], details: string): Answer {
    this.#observe(() => this.#observer.onFailed?.(this.name, failed))
    return { status: 500, headers: PLAIN_TEXT, body: `${details}${this.name} check failed\n` }
  }

  async #answerCheck(request: RequestLike, entry: Entry): Promise<Answer> {
    const outcome = await this.#run(entry, request)
    const { name } = entry.check
    if (outcome.passed) return this.#shaped({ status: 200, headers: TEXT, body: 'ok' }, [checkResult(name)], true)
    const { reason } = outcome
    const upstreams = { status: 500, headers: PLAIN_TEXT, body: `internal server error: ${reason}\n` }
    return this.#shaped(upstreams, [checkResult(name, reason)], true)
  }

  #shaped(upstreams: Answer, checks: readonly CheckResult[], withReasons: boolean): Answer {
    const result = { path: this.path, passed: checks.every(({ passed }) => passed), checks }
    return shaped(upstreams, result, this.#answers, withReasons, (error) => this.#observer.onError?.(error))
  }

  async #run({ check, passesUntil }: Entry, request: RequestLike): Promise<CheckOutcome> {
    return this.#clock.now() <= passesUntil ? PASSED : check.run(request)
  }

  #observe(notify: () => void): void {
    try {
      notify()
    } catch (thrown) {
      this.#observer.onError?.(toError(thrown))
    }
  }

  #count(name: string, outcome: CheckOutcome): void {
    const counts = this.#counts.get(name) ?? { success: 0, error: 0, last: 'success', reason: undefined }
    counts.last = outcome.passed ? 'success' : 'error'
    counts.reason = outcome.passed ? undefined : outcome.reason
    counts[counts.last]++
    this.#counts.set(name, counts)
  }

  /**
   * Upstream's label is the path's first segment; ours is all of it, so that two endpoints under
   * `/healthz` stay two.
   */
  get #type(): string {
    return this.path.slice(1)
  }

  /** Every check that is shown, in order of registration. Runs none. */
  get checkStatuses(): CheckStatus[] {
    return this.checkNames.map((name) => {
      const { last, reason } = this.#counts.get(name) ?? {}
      return { name, ...(last !== undefined && { passed: last === 'success' }), ...(reason !== undefined && { reason }) }
    })
  }

  /** 1 or 0 for each check that has run. */
  get checkStates(): MetricSample[] {
    return [...this.#counts].map(([name, { last }]) => ({ labels: { name, type: this.#type }, value: last === 'success' ? 1 : 0 }))
  }

  /** How often each check has passed and failed. */
  get checkTotals(): MetricSample[] {
    return [...this.#counts].flatMap(([name, counts]) =>
      (['success', 'error'] as const)
        .filter((status) => counts[status] > 0)
        .map((status) => ({ labels: { name, type: this.#type, status }, value: counts[status] })),
    )
  }

  /** Answered requests for the root, by status. */
  get requestTotals(): { readonly code: string; readonly count: number }[] {
    return [...this.#requests].map(([code, count]) => ({ code: String(code), count }))
  }
}

const checkResult = (name: string, reason?: string, excluded = false): CheckResult => ({
  name,
  passed: reason === undefined,
  ...(excluded && { excluded }),
  ...(reason !== undefined && { reason }),
})

/** `"a","b"` */
const quoted = (names: readonly string[]): string => names.map(goQuote).join(',')
