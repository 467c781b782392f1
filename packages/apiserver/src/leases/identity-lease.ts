import { createHash, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ApiServer } from '../api-server.ts'
import { loopbackResource } from '../client/loopback-resource.ts'
import type { ResourceClient } from '../client/resource-client.ts'
import {
  type Clock,
  checkArguments,
  type Duration,
  errorRecord,
  look,
  parseDuration,
  systemClock,
  systemHost,
  toError,
  withFields,
  withOptions,
} from '../engine.ts'
import { exponentialMs } from '../informer/backoff.ts'
import { microTime } from '../micro-time.ts'
import { pauseOn } from '../pause-on.ts'
import { StatusError } from '../status-errors.ts'
import { LEASES, type Lease } from './lease.ts'

/**
 * The hooks by which it is written, and those of dead servers are removed. The first is also the
 * pre-shutdown hook that removes it.
 * @see kubernetes/kubernetes pkg/controlplane/apiserver/server.go
 */
export const IDENTITY_HOOK = 'start-kube-apiserver-identity-lease-controller'
export const IDENTITY_GARBAGE_HOOK = 'start-kube-apiserver-identity-lease-garbage-collector'

/**
 * @see kubernetes/kubernetes pkg/controlplane/apiserver/server.go IdentityLeaseComponentLabelKey
 */
const COMPONENT_LABEL = 'apiserver.kubernetes.io/identity'
const HOSTNAME_LABEL = 'kubernetes.io/hostname'
const NAMESPACE = 'kube-system'
/** Renewals of many servers come apart. */
const JITTER = 0.04
/** @see kubernetes/component-helpers apimachinery/lease/controller.go maxBackoff */
const BACKOFF = { initialMs: 200, maxMs: 7_000, jitter: 0 }

export interface IdentityLeaseOptions {
  /**
   * The name of the lease, by which this server is known. Default: `apiserver-` and a hash of the
   * host's name and of where the server listens, so that a server that is started again there takes
   * its lease over. Workers that share a port need one each.
   */
  readonly id?: string
  /** The kind of server, a label of the lease. Default `kube-apiserver`, which tools look for. */
  readonly component?: string
  /** Time after which a server that does not renew its lease counts as dead. Default 1 hour. */
  readonly leaseDuration?: Duration
  /** Default 10 seconds. */
  readonly renewInterval?: Duration
  /** Time between two looks at the leases of dead servers. Default 1 hour. */
  readonly garbageInterval?: Duration
  /** Default: that of the process. */
  readonly clock?: Clock
}

/** What a server is known by. */
export interface ServerIdentity {
  /** The name of its lease, once it listens. */
  readonly id: () => string
  /** Selects the leases of servers of its kind. */
  readonly component: string
}

const IDENTITIES = new WeakMap<ApiServer, ServerIdentity>()

/** Undefined: it has no identity lease. */
export const identityOf = (server: ApiServer): ServerIdentity | undefined => IDENTITIES.get(server)

const A_SERVER = withFields('what createApiServer() returns', 'addPostStartHook', 'loopback')

/**
 * Has a server be known by a lease in `kube-system`, as replicas of kube-apiserver are: written
 * when it serves, renewed, and removed when it is told to end, before it stops to listen. Leases of
 * servers that have died are removed by whichever server lives. It needs {@link leaseGroup}, in a
 * storage that all replicas share.
 * @throws QuiesceError ERR_OPTION_INVALID, ERR_DUPLICATE, ERR_TOO_LATE
 * @see kubernetes/kubernetes pkg/controlplane/apiserver/server.go
 * @example
 * server.installApiGroups(leaseGroup(storage))
 * addIdentityLease(server)
 */
export function addIdentityLease(server: ApiServer, options: IdentityLeaseOptions = {}): void {
  checkArguments(
    'addIdentityLease(server, options?)',
    [server, A_SERVER],
    [options, withOptions<IdentityLeaseOptions>('id', 'component', 'leaseDuration', 'renewInterval', 'garbageInterval', 'clock')],
  )
  const {
    id,
    component = 'kube-apiserver',
    leaseDuration = '1h',
    renewInterval = '10s',
    garbageInterval = '1h',
    clock = systemClock,
  } = options
  const of = 'of addIdentityLease()'
  const leaseMs = parseDuration(`leaseDuration ${of}`, leaseDuration)
  const renewMs = parseDuration(`renewInterval ${of}`, renewInterval)
  const garbageMs = parseDuration(`garbageInterval ${of}`, garbageInterval)
  const labelSelector = `${COMPONENT_LABEL}=${component}`
  const leases = loopbackResource(server.loopback, LEASES, { namespace: NAMESPACE, labelSelector })
  const ownName = (): string => id ?? apiServerId(server.loopback.addresses)
  const failed = (what: string, error: unknown): void =>
    server.warn(`${what}: ${toError(error).message}; it is tried again`, { err: errorRecord(error) })
  let identity: IdentityLease | undefined
  server.addPostStartHook(IDENTITY_HOOK, ({ signal }) => {
    const name = ownName()
    identity = new IdentityLease({
      leases,
      clock,
      name,
      component,
      leaseMs,
      failed: (error) => failed(`lease ${name} is not renewed`, error),
    })
    void identity.keep(renewMs, signal)
  })
  IDENTITIES.set(server, { id: ownName, component: labelSelector })
  server.addPreShutdownHook(IDENTITY_HOOK, ({ signal }) => identity?.giveUp(signal))
  server.addPostStartHook(IDENTITY_GARBAGE_HOOK, ({ signal }) => {
    void every(clock, garbageMs, signal, () =>
      removeExpired(leases, clock.wall(), signal).catch((error: unknown) => {
        if (!signal.aborted) failed('leases of dead servers are not removed', error)
      }),
    )
  })
}

/** @see kubernetes/apiserver pkg/server/config.go NewConfig */
export function apiServerId(addresses: readonly string[]): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([look(hostname) ?? '', ...addresses]))
    .digest()
  return `apiserver-${base32(hash.subarray(0, 16))}`
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** Base32 in lower case and without padding. */
function base32(bytes: Uint8Array): string {
  let text = ''
  let value = 0
  let bits = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32[(value >>> (bits - 5)) & 31]
    value &= 255
  }
  return bits > 0 ? text + BASE32[(value << (5 - bits)) & 31] : text
}

interface IdentityParts {
  readonly leases: ResourceClient<Lease>
  readonly clock: Clock
  readonly name: string
  readonly component: string
  readonly leaseMs: number
  readonly failed: (error: unknown) => void
}

/** The lease of one server. */
class IdentityLease {
  readonly #parts: IdentityParts
  readonly #holder: string
  readonly #over = new AbortController()
  #lease: Lease | undefined
  #renewing: Promise<unknown> = Promise.resolve()

  constructor(parts: IdentityParts) {
    this.#parts = parts
    this.#holder = `${parts.name}_${randomUUID()}`
  }

  /** Writes and renews it until it is given up, or the signal comes. */
  async keep(renewMs: number, signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#over.signal])
    const { clock, failed } = this.#parts
    let failures = 0
    while (!ended.aborted) {
      const renewed = this.#renew(ended).then(
        () => true,
        (error: unknown) => {
          // What was stored is not what was last seen: it is looked up.
          this.#lease = undefined
          if (!ended.aborted && !isConflict(error) && failures === 0) failed(error)
          return false
        },
      )
      this.#renewing = renewed
      failures = (await renewed) ? 0 : failures + 1
      await pauseOn(clock, failures === 0 ? renewMs * (1 + JITTER * systemHost.random()) : exponentialMs(BACKOFF, failures, () => 0), ended)
    }
  }

  /** Removes it, unless another server has taken it over. */
  async giveUp(signal: AbortSignal): Promise<void> {
    this.#over.abort()
    await this.#renewing
    const { leases, name } = this.#parts
    for (;;) {
      const lease = await leases.get({ namespace: NAMESPACE, name }, { signal })
      if (lease?.spec?.holderIdentity !== this.#holder) return
      try {
        const { uid, resourceVersion } = lease.metadata
        return await leases.delete({ namespace: NAMESPACE, name }, { uid, resourceVersion }, { signal })
      } catch (thrown) {
        if (!isConflict(thrown)) throw thrown
      }
    }
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { leases, clock, name, component, leaseMs } = this.#parts
    const known = this.#lease ?? (await leases.get({ namespace: NAMESPACE, name }, { signal }))
    const host = look(hostname)
    const lease: Lease = {
      kind: 'Lease',
      apiVersion: LEASES.apiVersion,
      ...known,
      metadata: {
        ...(known?.metadata ?? { name, namespace: NAMESPACE }),
        labels: { ...known?.metadata.labels, [COMPONENT_LABEL]: component, ...(host !== undefined && { [HOSTNAME_LABEL]: host }) },
      },
      spec: {
        ...known?.spec,
        holderIdentity: this.#holder,
        leaseDurationSeconds: Math.max(1, Math.round(leaseMs / 1_000)),
        renewTime: microTime(clock.wall()),
      },
    }
    this.#lease = await (known === undefined ? leases.create(lease, { signal }) : leases.update(lease, { signal }))
  }
}

/**
 * Removes the leases whose holders have not renewed them in time, each only as it was looked at.
 * @see kubernetes/kubernetes pkg/controlplane/controller/apiserverleasegc/gc_controller.go
 */
async function removeExpired(leases: ResourceClient<Lease>, wallMs: number, signal: AbortSignal): Promise<void> {
  const { items } = await leases.list({ signal })
  for (const { metadata, spec } of items) {
    const { renewTime, leaseDurationSeconds } = spec ?? {}
    const until = renewTime === undefined ? Number.NaN : Date.parse(renewTime) + (leaseDurationSeconds ?? Number.NaN) * 1_000
    if (until >= wallMs) continue
    const { namespace = '', name, uid, resourceVersion } = metadata
    await leases.delete({ namespace, name }, { uid, resourceVersion }, { signal }).catch((thrown: unknown) => {
      // Another server was quicker, or its own came back.
      if (!isGone(thrown) && !isConflict(thrown)) throw thrown
    })
  }
}

const hasCode =
  (code: number) =>
  (thrown: unknown): boolean =>
    thrown instanceof StatusError && thrown.failure.code === code
const isConflict = hasCode(409)
const isGone = hasCode(404)

/** Does something at once, and then again each time so much time has gone by. */
async function every(clock: Clock, ms: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await act()
    await pauseOn(clock, ms, signal)
  }
}
