// @ts-check
// What each server of the comparison with Go is asked.
import { collection, flunder } from './setting.mjs'

export const OBJECTS = 500
/** A collection that is filled before, and one that is filled and emptied. */
export const KEPT = 'kept'
const MADE = 'made'

export const made = (/** @type {string} */ name) => JSON.stringify(flunder(name, 'one'))

let taken = 0
/** So many numbers that nothing else has, by the first of them. @param {number} count */
export function numbers(count) {
  taken += count
  return taken - count
}

/**
 * What is measured: each gives the microseconds of CPU for one. `warmUp` times as many are sent before; on one core V8 goes on compiling until
 * some 60 000 requests for one path have been answered. Where it is given, `after` is not counted.
 * @type {readonly { name: string, audited: boolean, count: number, warmUp: number, ask: (count: number) => Omit<import('./load.mjs').Requests, 'what' | 'port' | 'protocol'>, after?: (server: import('./server.mjs').Server) => Promise<unknown> }[]}
 */
export const ROWS = [
  {
    name: 'GET of a path',
    audited: false,
    count: 6_000,
    warmUp: 10,
    ask: (count) => ({ method: 'GET', path: '/hello', count, status: 200 }),
  },
  {
    name: 'GET of a path, audited',
    audited: true,
    count: 6_000,
    warmUp: 10,
    ask: (count) => ({ method: 'GET', path: '/hello', count, status: 200 }),
  },
  {
    name: 'get',
    audited: false,
    count: 4_000,
    warmUp: 4,
    ask: (count) => ({ method: 'GET', path: `${collection(KEPT)}/f{}`, of: OBJECTS, count, status: 200 }),
  },
  {
    name: `list of ${OBJECTS}`,
    audited: false,
    count: 120,
    warmUp: 2,
    ask: (count) => ({ method: 'GET', path: collection(KEPT), count, status: 200 }),
  },
  {
    name: 'create',
    audited: false,
    count: 1_800,
    warmUp: 4,
    ask: (count) => ({
      method: 'POST',
      path: collection(MADE),
      body: made('m{n}'),
      type: 'application/json',
      from: numbers(count),
      count,
      status: 201,
    }),
    after: (server) => server.ask('DELETE', collection(MADE)),
  },
  {
    name: 'merge patch',
    audited: false,
    count: 2_400,
    warmUp: 4,
    ask: (count) => ({
      method: 'PATCH',
      path: `${collection(KEPT)}/f{}`,
      of: OBJECTS,
      body: '{"spec":{"reference":"r{n}"}}',
      type: 'application/merge-patch+json',
      from: numbers(count),
      count,
      status: 200,
    }),
  },
]
export const PROTOCOLS = /** @type {const} */ (['HTTP/1.1', 'HTTP/2'])
