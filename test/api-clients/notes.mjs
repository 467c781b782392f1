// @ts-check
// What the clients of this folder watch, and how their ledgers are held against what was written.
import { defineResource } from '../../packages/apiserver/dist/index.js'

/** An event as a client was told of it, or as the store has it. @typedef {{ type: string, name: string, version: string, number: number }} Entry */

export const notes = defineResource({
  group: 'clients.example',
  kind: 'Note',
  plural: 'notes',
  scope: 'Namespaced',
  versions: { v1: { schema: { type: 'object', properties: { number: { type: 'integer' } } } } },
})

/** @param {{ type: string, object: import('../../packages/apiserver/dist/index.js').ApiObject }} event @returns {Entry} */
export const entryOf = ({ type, object }) => ({
  type,
  name: object.metadata.name,
  version: object.metadata.resourceVersion ?? '',
  number: Number(object['number']),
})

export const textOf = (/** @type {Entry} */ { type, name, version, number }) => `${type} ${name} ${number} at ${version}`

/** What is wrong with what a client was told; empty: every event once, in order. @param {readonly Entry[]} written @param {readonly Entry[]} told */
export function compare(written, told) {
  for (let at = 0; at < Math.max(written.length, told.length); at++) {
    const [expected, is] = [written[at], told[at]].map((entry) => entry && textOf(entry))
    if (expected !== is) return `event ${at}: written ${expected ?? 'nothing'}, told ${is ?? 'nothing'}`
  }
  return ''
}
