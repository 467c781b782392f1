import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { apiserverWording } from '#apiserver/apiserver-wording.ts'
import { type Clock, systemClock } from '#src/base/clock.ts'
import type { LifecycleFact } from '#src/base/events.ts'
import { readingOf } from '#src/http/reading.ts'
import { Traffic, type TrafficOptions } from '#src/http/traffic/traffic.ts'
import { transportOf } from '#src/http/transports.ts'
import { RawClient } from '../support/raw-client.ts'

export interface Rig {
  readonly server: Server
  readonly traffic: Traffic
  readonly port: number
  /** What the traffic has recorded. */
  readonly facts: LifecycleFact[]
  /** A raw connection, broken off at the end of the test. */
  readonly connect: () => Promise<RawClient>
  /** Resolves when all that was sent so far on other connections has been looked at. */
  readonly settle: () => Promise<void>
}

export interface RigOptions extends Partial<Omit<TrafficOptions, 'record'>> {
  /** Default: on. */
  readonly takenOver?: boolean
}

/**
 * A plain node server on a free port, its traffic taken over. Requests for `/settle` are the rig's
 * own.
 */
export async function rig(listener: RequestListener | undefined, { takenOver = true, ...options }: RigOptions = {}): Promise<Rig> {
  const facts: LifecycleFact[] = []
  const clock: Clock = options.clock ?? systemClock
  const traffic = new Traffic({
    mode: 'refuse',
    isLongRunning: ({ url = '' }) => url.startsWith('/watch') || undefined,
    random: () => 0.5,
    transportOf,
    readingOf,
    // The rows here are upstream's, word for word; test/http/wording.test.ts has ours.
    wording: apiserverWording,
    ...options,
    clock,
    record: (fact) => facts.push(fact),
  })
  const server = createServer(listener ?? (() => undefined))
  if (!listener) server.removeAllListeners('request')
  const gate = takenOver ? traffic.takeOver(server) : undefined
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo

  const connect = async (): Promise<RawClient> => {
    const client = await RawClient.open({ port })
    onTestFinished(() => client.abort())
    return client
  }
  onTestFinished(() => {
    gate?.[Symbol.dispose]()
    if (server.listening) server.close()
    traffic.destroyConnections()
    server.closeAllConnections()
  })
  return { server, traffic, port, facts, connect, settle: () => turns(5) }
}

/** So many turns of the event loop, each with a look at the sockets. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Whether it has, some turns of the event loop from now. */
export const hasSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false
  promise.then(
    () => (settled = true),
    () => (settled = true),
  )
  await turns(3)
  return settled
}

/** A promise with its ends in hand. */
export class Latch<T = void> {
  readonly promise: Promise<T>
  resolve!: (value: T) => void
  reject!: (reason: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}

/** An emptying of an accept queue that nothing cuts. */
export const UNBOUNDED = { closesBy: Number.POSITIVE_INFINITY, signal: new AbortController().signal }
