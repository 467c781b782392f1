// Clients of libraries, as their users have them.
import { createTRPCClient, httpSubscriptionLink } from '@trpc/client'
import { io } from 'socket.io-client'
import { EventSource } from 'undici'

/**
 * A client of socket.io, which answers the first message.
 * @param {string} url
 * @param {'websocket' | 'polling'} transport
 */
export function socketIo(url, transport) {
  const client = io(url, { transports: [transport], reconnectionDelay: 10 })
  /** @type {Promise<void>} */
  const first = new Promise((resolve) =>
    client.once('first', (heard) => {
      heard()
      resolve()
    }),
  )
  /** @type {Promise<string>} */
  const disconnected = new Promise((resolve) => client.once('disconnect', resolve))
  /** @type {Promise<void>} */
  const comesBack = new Promise((resolve) => client.io.once('reconnect_attempt', () => resolve()))
  return { first, disconnected, comesBack, leave: () => void client.close() }
}

/**
 * A subscription of tRPC to `ticks`.
 * @param {string} url
 */
export function subscription(url) {
  const client = createTRPCClient({ links: [httpSubscriptionLink({ url, EventSource })] })
  /** @type {unknown[]} */
  const values = []
  let unsubscribe = () => {}
  /** @type {Promise<void>} */
  let completed = Promise.resolve()
  /** @type {Promise<void>} */
  const begun = new Promise((hasBegun) => {
    completed = new Promise((hasCompleted) => {
      const onData = (value) => {
        values.push(value)
        hasBegun()
      }
      ;({ unsubscribe } = client.ticks.subscribe(undefined, { onData, onComplete: () => hasCompleted() }))
    })
  })
  return { values, begun, completed, leave: () => unsubscribe() }
}
