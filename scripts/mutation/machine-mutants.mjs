// @ts-check
// Mutants of the machines: one wrong place in one configuration each. Sites are found by walking the configurations, so a new state brings
// its mutants with it.
import { createMachine } from 'xstate'
import { BUDGET_INSTANTS } from '../../dist/machines/signals.js'

/**
 * @typedef {import('xstate').AnyStateMachine} Machine
 * @typedef {Record<string, unknown>} Config
 * @typedef {{ operator: string, site: string, replace: (machine: Machine) => Machine }} MachineMutant
 * @typedef {{ path: string[], node: Config }} Site
 */

const isObject = (/** @type {unknown} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const listOf = (/** @type {unknown} */ value) => (value === undefined ? [] : Array.isArray(value) ? value : [value])

/** Every state of a configuration, with its path. @param {Config} node @param {string[]} [path] @returns {Site[]} */
function sitesOf(node, path = []) {
  const states = /** @type {Record<string, Config>} */ (node['states'] ?? {})
  return [{ path, node }, ...Object.entries(states).flatMap(([key, child]) => sitesOf(child, [...path, 'states', key]))]
}

/** The machine has no such place: another mode or other hooks make another machine. */
export class NotHere extends Error {}

/** A copy with another value at a path, or without it. @param {unknown} root @param {readonly (string | number)[]} path @param {(old: unknown) => unknown} change @returns {unknown} */
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

/** Where a state has transitions: path below the state, and what it is called. @param {Config} node @returns {{ path: (string | number)[], name: string, transition: unknown }[]} */
function transitionsOf(node) {
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
  const invoke = /** @type {Config | undefined} */ (node['invoke'])
  if (isObject(invoke)) {
    for (const kind of ['onDone', 'onError']) if (invoke?.[kind] !== undefined) add(['invoke', kind], `work ${kind}`, invoke[kind])
  }
  return found
}

/** Where a state has actions. @param {Config} node @returns {{ path: (string | number)[], name: string, actions: unknown[] }[]} */
const actionsOf = (node) => [
  ...['entry', 'exit'].flatMap((kind) => (node[kind] === undefined ? [] : [{ path: [kind], name: kind, actions: listOf(node[kind]) }])),
  ...transitionsOf(node).flatMap(({ path, name, transition }) => {
    const actions = isObject(transition) ? /** @type {Config} */ (transition)['actions'] : undefined
    return actions === undefined ? [] : [{ path: [...path, 'actions'], name, actions: listOf(actions) }]
  }),
]

/** @param {unknown} action */
function actionName(action) {
  if (typeof action === 'string') return action
  const { type, params } = /** @type {{ type?: string, params?: { type?: string, name?: string } }} */ (action)
  const what = typeof params === 'object' ? [params.type, params.name].filter(Boolean).join(' ') : ''
  return `${type ?? 'action'}${what && ` ${what}`}`
}
const isRaise = (/** @type {unknown} */ action) =>
  typeof action === 'function' && /** @type {{ type?: string }} */ (/** @type {unknown} */ (action)).type === 'xstate.raise'

/** @typedef {{ what: string, change: (config: Config) => Config }} Change */

/** What each operator finds to change in one state. @type {Record<string, (site: Site) => Change[]>} */
const OPERATORS = {
  'transition dropped': ({ path, node }) =>
    transitionsOf(node).map(({ path: below, name }) => ({
      what: name,
      change: (config) => at(config, [...path, ...below], () => undefined),
    })),
  'action dropped': ({ path, node }) =>
    actionsOf(node).flatMap(({ path: below, name, actions }) =>
      actions.map((action, i) => ({
        what: `${name}, ${actionName(action)}${actions.length > 1 ? ` ${i + 1}` : ''}`,
        change: (config) => at(config, [...path, ...below], () => actions.filter((_, j) => j !== i)),
      })),
    ),
  'signal fired twice': ({ path, node }) =>
    actionsOf(node).flatMap(({ path: below, name, actions }) =>
      actions.some(isRaise) ? [{ what: name, change: (config) => at(config, [...path, ...below], () => [...actions, ...actions]) }] : [],
    ),
  'error swallowed': ({ path, node }) => {
    const invoke = /** @type {Config | undefined} */ (node['invoke'])
    if (invoke?.['onDone'] === undefined || invoke['onError'] === undefined) return []
    const good = listOf(invoke['onDone']).at(-1)
    return [{ what: 'work onError', change: (config) => at(config, [...path, 'invoke', 'onError'], () => good) }]
  },
  'success taken for failure': ({ path, node }) => {
    const invoke = /** @type {Config | undefined} */ (node['invoke'])
    if (invoke?.['onDone'] === undefined || invoke['onError'] === undefined) return []
    return [{ what: 'work onDone', change: (config) => at(config, [...path, 'invoke', 'onDone'], () => invoke['onError']) }]
  },
  'join turned into any-of': ({ path, node }) => {
    if (node['type'] !== 'parallel' || node['onDone'] === undefined) return []
    const latches = Object.values(/** @type {Record<string, Config>} */ (node['states']))
    if (!latches.every((latch) => latch['initial'] === 'pending')) return []
    const events = latches.flatMap((latch) => Object.keys(/** @type {{ pending: { on: object } }} */ (latch['states']).pending.on))
    const next = node['onDone']
    const on = Object.fromEntries(events.map((event) => [event, next]))
    return [{ what: 'join', change: (config) => at(config, path, () => ({ on: { ...on, .../** @type {object} */ (node['on'] ?? {}) } })) }]
  },
  'work not stopped': ({ path, node }) => {
    if (node['type'] !== 'final' || typeof node['output'] === 'undefined') return []
    return [{ what: 'no end', change: (config) => at(config, path, () => ({})) }]
  },
  'outcome taken for success': ({ path, node }) =>
    node['type'] === 'final' && typeof node['output'] === 'function'
      ? [{ what: 'output', change: (config) => at(config, [...path, 'output'], () => ({ outcome: 'ok' })) }]
      : [],
  'guard dropped': ({ path, node }) =>
    transitionsOf(node).flatMap(({ path: below, name, transition }) =>
      isObject(transition) && /** @type {Config} */ (transition)['guard'] !== undefined
        ? [{ what: name, change: (config) => at(config, [...path, ...below, 'guard'], () => undefined) }]
        : [],
    ),
  'reserve ignored': ({ path, node }) =>
    Object.entries(node['after'] ?? {}).flatMap(([delay, transition]) => {
      const [, prefix = '', instant] = /^((?:crash\.)?until\.)(.+)$/.exec(delay) ?? []
      const i = BUDGET_INSTANTS.indexOf(/** @type {never} */ (instant))
      const other = BUDGET_INSTANTS[i + 1] ?? BUDGET_INSTANTS[i - 1]
      if (i < 0 || other === undefined) return []
      return [{ what: delay, change: (config) => at(config, [...path, 'after'], () => ({ [`${prefix}${other}`]: transition })) }]
    }),
  'wrong order': ({ path, node }) => {
    const invoke = /** @type {Config | undefined} */ (node['invoke'])
    const input = /** @type {((args: { context: object }) => Record<string, unknown[]>) | undefined} */ (invoke?.['input'])
    const list = { destroy: 'functions', preShutdownHooks: 'hooks' }[String(invoke?.['src'])]
    if (input === undefined || list === undefined) return []
    const reversed = (/** @type {{ context: object }} */ args) => ({ ...input(args), [list]: [...(input(args)[list] ?? [])].reverse() })
    return [{ what: 'input', change: (config) => at(config, [...path, 'invoke', 'input'], () => reversed) }]
  },
}

/** @param {Config} config @param {readonly (string | number)[]} path @param {(old: unknown) => unknown} change */
const at = (config, path, change) => /** @type {Config} */ (changed(config, path, change))

/** The mutants of one machine. @param {string} name @param {Machine} machine @param {(path: string) => boolean} [within] @returns {MachineMutant[]} */
export function machineMutants(name, machine, within = () => true) {
  const sites = sitesOf(/** @type {Config} */ (machine.config))
  return Object.entries(OPERATORS).flatMap(([operator, find]) =>
    sites.flatMap((site) => {
      const state = site.path.filter((_, i) => i % 2 === 1).join('.')
      if (!within(state)) return []
      return find(site).map(({ what, change }) => ({
        operator,
        site: `${name}${state && ` ${state}`}: ${what}`,
        replace: (/** @type {Machine} */ original) =>
          /** @type {Machine} */ (
            createMachine(/** @type {never} */ (change(/** @type {Config} */ (original.config)))).provide(
              /** @type {never} */ (original.implementations),
            )
          ),
      }))
    }),
  )
}
