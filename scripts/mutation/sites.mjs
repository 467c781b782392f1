// @ts-check
// Where a machine can be wrong: the places of its configuration, and how to make a copy that is
// different in one of them.

/**
 * @typedef {import('xstate').AnyStateMachine} Machine
 * @typedef {Record<string, unknown>} Config
 * @typedef {{ path: string[], node: Config }} Site
 */

export const isObject = (/** @type {unknown} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value)
export const listOf = (/** @type {unknown} */ value) => (value === undefined ? [] : Array.isArray(value) ? value : [value])

/** Every state of a configuration, with its path. @param {Config} node @param {string[]} [path] @returns {Site[]} */
export function sitesOf(node, path = []) {
  const states = /** @type {Record<string, Config>} */ (node['states'] ?? {})
  return [{ path, node }, ...Object.entries(states).flatMap(([key, child]) => sitesOf(child, [...path, 'states', key]))]
}

/** What a state runs. @param {Config} node @returns {Config | undefined} */
export const workOf = (node) => (isObject(node['invoke']) ? /** @type {Config} */ (node['invoke']) : undefined)

/** Where a state has transitions: path below the state, and what it is called. @param {Config} node @returns {{ path: (string | number)[], name: string, transition: unknown }[]} */
export function transitionsOf(node) {
  const found = /** @type {{ path: (string | number)[], name: string, transition: unknown }[]} */ ([])
  const add = (/** @type {(string | number)[]} */ path, /** @type {string} */ name, /** @type {unknown} */ given) =>
    listOf(given).forEach((transition, i) => {
      found.push({
        path: Array.isArray(given) ? [...path, i] : path,
        name: Array.isArray(given) && given.length > 1 ? `${name} (${i + 1})` : name,
        transition,
      })
    })
  for (const kind of ['on', 'after'])
    for (const [event, given] of Object.entries(node[kind] ?? {})) add([kind, event], `${kind} ${event}`, given)
  for (const kind of ['always', 'onDone']) if (node[kind] !== undefined) add([kind], kind, node[kind])
  const work = workOf(node)
  for (const kind of ['onDone', 'onError']) if (work?.[kind] !== undefined) add(['invoke', kind], `work ${kind}`, work[kind])
  return found
}

/** Where a state has actions. @param {Config} node @returns {{ path: (string | number)[], name: string, actions: unknown[] }[]} */
export const actionsOf = (node) => [
  ...['entry', 'exit'].flatMap((kind) => (node[kind] === undefined ? [] : [{ path: [kind], name: kind, actions: listOf(node[kind]) }])),
  ...transitionsOf(node).flatMap(({ path, name, transition }) => {
    const actions = isObject(transition) ? /** @type {Config} */ (transition)['actions'] : undefined
    return actions === undefined ? [] : [{ path: [...path, 'actions'], name, actions: listOf(actions) }]
  }),
]

/** The machine has no such place: another mode or other hooks make another machine. */
export class NotHere extends Error {}

/** A copy with another value at a path, or without it. @param {Config} config @param {readonly (string | number)[]} path @param {(old: unknown) => unknown} change */
export const changedAt = (config, path, change) => /** @type {Config} */ (changed(config, path, change))

/** @param {unknown} root @param {readonly (string | number)[]} path @param {(old: unknown) => unknown} change @returns {unknown} */
function changed(root, [key, ...rest], change) {
  if (root === undefined) throw new NotHere()
  if (key === undefined) return change(root)
  if (Array.isArray(root)) {
    if (!(Number(key) in root)) throw new NotHere()
    return root.flatMap((item, i) => (i === Number(key) ? [changed(item, rest, change)].filter((other) => other !== undefined) : [item]))
  }
  if (!isObject(root)) throw new NotHere()
  const object = /** @type {Config} */ (root)
  const value = changed(object[String(key)], rest, change)
  const { [String(key)]: _, ...others } = object
  return value === undefined ? others : { ...object, [String(key)]: value }
}
