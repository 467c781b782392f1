import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type Actor, createActor, fromPromise } from 'xstate'
import type { ApiServer } from '../api-server.ts'
import { loopbackResource } from '../client/loopback-resource.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import {
  type Clock,
  checkArguments,
  type Duration,
  errorRecord,
  type InspectedRoot,
  look,
  optionError,
  parseDuration,
  systemClock,
  systemHost,
  toError,
  withFields,
  withOptions,
} from '../engine.ts'
import { microTime } from '../micro-time.ts'
import { StatusError } from '../status-errors.ts'
import { type Attempted, electionMachine } from './election.ts'
import { LEASES, type Lease, type LeaseSpec } from './lease.ts'

/** @see kubernetes/client-go tools/leaderelection/leaderelection.go JitterFactor */
const JITTER = 1.2

export interface LeaderElectionOptions {
  /** The name of the lease: what is led. */
  readonly name: string
  /** The namespace of the lease. Default `kube-system`. */
  readonly namespace?: string
  /** What the leader is known by; no two candidates have the same. Default: the host and a UUID. */
  readonly identity?: string
  /**
   * What only the leader does. Its signal is aborted when it leads no longer, and it has to end by
   * that soon: until then this candidate stands for no election. When it throws, others may lead;
   * when it returns, the lease is kept.
   */
  readonly lead: (context: { readonly signal: AbortSignal }) => unknown
  /** How long the others wait for a leader that does not renew the lease. Default 15 s. */
  readonly leaseDuration?: Duration
  /**
   * How long a leader leads after a renewal, counted from when it asked for it. Shorter than
   * `leaseDuration`. Default 10 s.
   */
  readonly renewDeadline?: Duration
  /** Time between two attempts; `renewDeadline` is more than 1.2 times as long. Default 2 s. */
  readonly retryPeriod?: Duration
  /** Is given the identity of each new leader that this candidate sees; empty: there is none. */
  readonly onNewLeader?: (identity: string) => void
  /** Is given every error of an attempt, and what `lead` has thrown. Default: not reported. */
  readonly failed?: (error: unknown) => void
  /** Default: that of the process. */
  readonly clock?: Clock
  /** Spreads the attempts of candidates. Default: chance. */
  readonly random?: () => number
}

/** The hook under which a candidate is registered, before the name of its lease. */
const HOOK = 'leader-election'

const A_SERVER = withFields('what createApiServer() returns', 'addPostStartHook', 'loopback', 'watchActors')
const A_CLIENT = withFields('a client of leases', 'get', 'create', 'update')

/**
 * Has a server be a candidate as long as it serves: the post-start hook `leader-election-NAME`
 * begins it, and the pre-shutdown hook of that name waits until `lead` has ended and gives the
 * lease up, so that another server leads before this one stops to listen. Failures are warnings in
 * its log.
 * @throws QuiesceError ERR_OPTION_INVALID, ERR_DUPLICATE, ERR_TOO_LATE
 * @example
 * addLeaderElection(server, { name: 'orders', lead: ({ signal }) => work(signal) })
 */
export function addLeaderElection(server: ApiServer, options: LeaderElectionOptions): LeaderElector {
  checkArguments('addLeaderElection(server, options)', [server, A_SERVER], [options, OPTIONS])
  const failed = (error: unknown): void =>
    server.warn(`candidate for ${options.name}: ${toError(error).message}`, { err: errorRecord(error) })
  const elector = createLeaderElector(loopbackResource(server.loopback, LEASES), { failed, ...options })
  const hook = `${HOOK}-${options.name}`
  for (const root of elector.actors()) server.watchActors(root)
  server.addPostStartHook(hook, () => void elector.start())
  server.addPreShutdownHook(hook, () => elector.stop())
  return elector
}

const OPTIONS = withOptions<LeaderElectionOptions>(
  'name',
  'namespace',
  'identity',
  'lead',
  'leaseDuration',
  'renewDeadline',
  'retryPeriod',
  'onNewLeader',
  'failed',
  'clock',
  'random',
)

/**
 * A candidate for what a lease stands for.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @see kubernetes/client-go tools/leaderelection/leaderelection.go NewLeaderElector
 */
export function createLeaderElector(leases: ResourceClient<Lease>, options: LeaderElectionOptions): LeaderElector {
  checkArguments('createLeaderElector(leases, options)', [leases, A_CLIENT], [options, OPTIONS])
  return new LeaderElector(leases, options)
}

type State = 'candidate' | 'leading' | 'losing' | 'resigning' | 'ending' | 'releasing' | 'stopped'

export class LeaderElector {
  readonly identity: string
  readonly #leases: ResourceClient<Lease>
  readonly #options: LeaderElectionOptions
  readonly #clock: Clock
  readonly #random: () => number
  readonly #failed: (error: unknown) => void
  readonly #leaseMs: number
  readonly #deadlineMs: number
  readonly #retryMs: number
  readonly #actor: Actor<typeof electionMachine>
  readonly #ended: Promise<void>
  /** The lease as it was written last by this candidate. */
  #held: Lease | undefined
  /** What was seen last, and since when it has been so, by this candidate's own clock. */
  #observed: { readonly version: string; readonly holder: string; readonly atMs: number; readonly durationMs: number } | undefined
  #reported = ''
  #attempting: Promise<unknown> = Promise.resolve()
  #working: Promise<unknown> = Promise.resolve()

  constructor(leases: ResourceClient<Lease>, options: LeaderElectionOptions) {
    const { name, namespace = 'kube-system', identity = `${look(hostname) ?? ''}_${randomUUID()}`, lead } = options
    const { leaseDuration = '15s', renewDeadline = '10s', retryPeriod = '2s' } = options
    const of = 'of the leader election'
    for (const [field, given] of Object.entries({ name, namespace, identity }))
      if (typeof given !== 'string' || given === '') throw optionError(`${field} ${of}`, given, 'a text')
    if (typeof lead !== 'function') throw optionError(`lead ${of}`, lead, 'a function')
    this.#leaseMs = parseDuration(`leaseDuration ${of}`, leaseDuration)
    this.#deadlineMs = parseDuration(`renewDeadline ${of}`, renewDeadline)
    this.#retryMs = parseDuration(`retryPeriod ${of}`, retryPeriod)
    if (this.#leaseMs < 1_000) throw optionError(`leaseDuration ${of}`, leaseDuration, 'a second or more')
    if (this.#deadlineMs >= this.#leaseMs) throw optionError(`renewDeadline ${of}`, renewDeadline, 'less than leaseDuration')
    if (this.#retryMs <= 0 || this.#retryMs * JITTER >= this.#deadlineMs)
      throw optionError(`retryPeriod ${of}`, retryPeriod, `above 0, and ${JITTER} times that less than renewDeadline`)
    this.identity = identity
    this.#leases = leases
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? systemHost.random
    this.#failed = options.failed ?? (() => {})
    const machine = electionMachine.provide({
      actors: {
        attempt: fromPromise<Attempted>(({ signal }) => {
          const attempted = this.#bounded(signal, (bound) => this.#attempt(bound))
          this.#attempting = attempted.catch(() => {})
          return attempted
        }),
        lead: fromPromise<void>(({ signal }) => this.#lead(signal)),
        settle: fromPromise<void>(async () => void (await this.#working)),
        release: fromPromise<void>(({ signal }) => this.#bounded(signal, (bound) => this.#release(bound))),
      },
      delays: {
        retry: () => this.#retryMs * (1 + JITTER * this.#random()),
        renew: this.#retryMs,
        releaseTimeout: this.#deadlineMs,
      },
    })
    this.#actor = createActor(machine, { clock: this.#clock, id: `${HOOK}-${name}` })
    this.#ended = new Promise((resolve) => {
      this.#actor.subscribe({ complete: resolve })
    })
  }

  /** Whether this candidate leads: `lead` runs, or has returned, and the lease is held. */
  get isLeader(): boolean {
    return this.state === 'leading'
  }

  /** Where its machine is. */
  get state(): State {
    const { value } = this.#actor.getSnapshot()
    return (typeof value === 'string' ? value : Object.keys(value)[0]) as State
  }

  /** Who leads, as far as this candidate has seen; empty: none. */
  get leader(): string {
    return this.#observed?.holder ?? ''
  }

  /** The actors of its machine, for those who watch it: `server.watchActors(root)`. */
  actors(): readonly InspectedRoot[] {
    return [this.#actor]
  }

  /** Stands for election. A second call is nothing. */
  start(): void {
    this.#actor.start()
  }

  /**
   * Stands for no election any more: what `lead` does is ended and waited for, for `renewDeadline`
   * at most, and then the lease is given up. Resolves when that is done.
   */
  async stop(): Promise<void> {
    const { status } = this.#actor.getSnapshot()
    // Not started: there is nothing to stop.
    this.#actor.start()
    if (status === 'active') this.#actor.send({ type: 'stop' })
    await this.#ended
  }

  #bounded<R>(signal: AbortSignal, act: (signal: AbortSignal) => Promise<R>): Promise<R> {
    const over = new AbortController()
    const timer = this.#clock.setTimeout(() => over.abort(new Error(`no answer for ${this.#deadlineMs} ms`)), this.#deadlineMs)
    return act(AbortSignal.any([signal, over.signal]))
      .catch((thrown: unknown) => {
        if (!signal.aborted) this.#failed(thrown)
        throw thrown
      })
      .finally(() => this.#clock.clearTimeout(timer))
  }

  /** @see kubernetes/client-go tools/leaderelection/leaderelection.go tryAcquireOrRenew */
  async #attempt(signal: AbortSignal): Promise<Attempted> {
    if (this.#held !== undefined) {
      const renewed = await this.#write(this.#held, signal)
      if (renewed.isHeld) return renewed
    }
    const { name, namespace = 'kube-system' } = this.#options
    const lease = await this.#leases.get({ namespace, name }, { signal })
    if (lease !== undefined) this.#observe(lease)
    const isFree = lease === undefined || this.leader === '' || this.leader === this.identity || this.#hasRunOut()
    return isFree ? this.#write(lease, signal) : { isHeld: false }
  }

  /** Writes the lease as this candidate's own, unless it is another one than the given. */
  async #write(lease: Lease | undefined, signal: AbortSignal): Promise<Attempted> {
    const { name, namespace = 'kube-system' } = this.#options
    const sentAt = this.#clock.now()
    const now = microTime(this.#clock.wall())
    const { acquireTime, leaseTransitions = 0, ...old } = lease?.spec ?? {}
    const isOwn = old.holderIdentity === this.identity
    const spec: LeaseSpec = {
      holderIdentity: this.identity,
      leaseDurationSeconds: Math.ceil(this.#leaseMs / 1_000),
      acquireTime: isOwn && acquireTime !== undefined ? acquireTime : now,
      renewTime: now,
      leaseTransitions: isOwn || lease === undefined ? leaseTransitions : leaseTransitions + 1,
    }
    const written: Lease = { kind: 'Lease', apiVersion: LEASES.apiVersion, metadata: { name, namespace }, ...lease, spec }
    this.#held = undefined
    try {
      this.#held = await (lease === undefined ? this.#leases.create(written, { signal }) : this.#leases.update(written, { signal }))
    } catch (thrown) {
      if (isConflict(thrown)) return { isHeld: false }
      throw thrown
    }
    this.#observe(this.#held)
    return { isHeld: true, leftMs: this.#deadlineMs - (this.#clock.now() - sentAt) }
  }

  /**
   * The clocks of others say nothing: a lease is as old as this candidate has seen it unchanged.
   */
  #observe({ metadata, spec }: Lease): void {
    const version = metadata.resourceVersion ?? ''
    if (version === this.#observed?.version) return
    const { holderIdentity: holder = '', leaseDurationSeconds = 0 } = spec ?? {}
    this.#observed = { version, holder, atMs: this.#clock.now(), durationMs: leaseDurationSeconds * 1_000 }
    if (holder === this.#reported) return
    this.#reported = holder
    this.#options.onNewLeader?.(holder)
  }

  #hasRunOut(): boolean {
    const { atMs = 0, durationMs = 0 } = this.#observed ?? {}
    return this.#clock.now() >= atMs + durationMs
  }

  async #lead(signal: AbortSignal): Promise<void> {
    const { lead } = this.#options
    const working = (async () => void (await lead({ signal })))()
    this.#working = working.catch(() => {})
    try {
      await working
    } catch (thrown) {
      if (signal.aborted) return
      this.#failed(thrown)
      throw thrown
    }
  }

  /** @see kubernetes/client-go tools/leaderelection/leaderelection.go release */
  async #release(signal: AbortSignal): Promise<void> {
    const { name, namespace = 'kube-system' } = this.#options
    // One that was left may be granted still.
    await this.#attempting
    this.#held = undefined
    for (;;) {
      const lease = await this.#leases.get({ namespace, name }, { signal })
      if (lease?.spec?.holderIdentity !== this.identity) return
      const now = microTime(this.#clock.wall())
      const spec: LeaseSpec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
      try {
        this.#observe(await this.#leases.update({ ...lease, spec }, { signal }))
        return
      } catch (thrown) {
        if (!isConflict(thrown)) throw thrown
      }
    }
  }
}

const isConflict = (thrown: unknown): boolean => thrown instanceof StatusError && thrown.failure.code === 409
