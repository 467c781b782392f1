// @ts-check
// What can be wrong at one place of a machine, by kind of mistake.
import { enqueueActions } from 'xstate'
import { BUDGET_INSTANTS } from '../../build/src/machines/signals.js'
import { actionsOf, changedAt, isObject, listOf, sitesOf, transitionsOf, workOf } from './sites.mjs'

/**
 * @typedef {import('./sites.mjs').Machine} Machine
 * @typedef {import('./sites.mjs').Config} Config
 * @typedef {import('./sites.mjs').Site} Site
 * @typedef {{ what: string, change: (config: Config) => Config }} Change
 */

const isTimeout = (/** @type {{ path: readonly unknown[] }} */ { path }) => path[0] === 'after'

/** What each operator finds to change in one state. @type {Record<string, (site: Site) => Change[]>} */
export const CONFIG_OPERATORS = {
  'transition dropped': (site) => dropped(site, (transition) => !isTimeout(transition)),
  'timeout missing': (site) => dropped(site, isTimeout),
  'action dropped': ({ path, node }) =>
    actionsOf(node).flatMap(({ path: below, name, actions }) =>
      actions.map((action, i) => ({
        what: `${name}, ${actionName(action)}${actions.length > 1 ? ` ${i + 1}` : ''}`,
        change: (config) => changedAt(config, [...path, ...below], () => actions.filter((_, j) => j !== i)),
      })),
    ),
  'signal fired twice': ({ path, node }) =>
    actionsOf(node).flatMap(({ path: below, name, actions }) =>
      actions.some(isRaise)
        ? [{ what: name, change: (config) => changedAt(config, [...path, ...below], () => [...actions, ...actions]) }]
        : [],
    ),
  'work not begun': ({ path, node }) =>
    workOf(node) ? [{ what: 'work', change: (config) => changedAt(config, [...path, 'invoke'], () => undefined) }] : [],
  'error swallowed': ({ path, node }) => {
    const work = workOf(node)
    if (work?.['onDone'] === undefined || work['onError'] === undefined) return []
    const good = listOf(work['onDone']).at(-1)
    return [{ what: 'work onError', change: (config) => changedAt(config, [...path, 'invoke', 'onError'], () => good) }]
  },
  'success taken for failure': ({ path, node }) => {
    const work = workOf(node)
    if (work?.['onDone'] === undefined || work['onError'] === undefined) return []
    return [{ what: 'work onDone', change: (config) => changedAt(config, [...path, 'invoke', 'onDone'], () => work['onError']) }]
  },
  'join turned into any-of': ({ path, node }) => {
    const joins = Object.entries(/** @type {Record<string, unknown>} */ (node['on'] ?? {})).flatMap(([event, transitions]) => {
      const [last] = /** @type {Config[]} */ (listOf(transitions))
      return /** @type {Config | undefined} */ (last?.['guard'])?.['type'] === 'isLast' ? [[event, { ...last, guard: undefined }]] : []
    })
    if (joins.length === 0) return []
    const on = { .../** @type {object} */ (node['on']), ...Object.fromEntries(joins) }
    return [{ what: 'join', change: (config) => changedAt(config, [...path, 'on'], () => on) }]
  },
  'end missing': ({ path, node }) => {
    if (node['type'] !== 'final') return []
    const { type: _, output: __, ...rest } = node
    return [{ what: 'end', change: (config) => changedAt(config, path, () => rest) }]
  },
  'outcome taken for success': ({ path, node }) =>
    node['type'] === 'final' && typeof node['output'] === 'function'
      ? [{ what: 'output', change: (config) => changedAt(config, [...path, 'output'], () => ({ outcome: 'ok' })) }]
      : [],
  'guard dropped': ({ path, node }) =>
    transitionsOf(node).flatMap(({ path: below, name, transition }) =>
      isObject(transition) && /** @type {Config} */ (transition)['guard'] !== undefined
        ? [{ what: name, change: (config) => changedAt(config, [...path, ...below, 'guard'], () => undefined) }]
        : [],
    ),
  'reserve ignored': ({ path, node }) =>
    Object.entries(node['after'] ?? {}).flatMap(([delay, transition]) => {
      const [, prefix = '', instant] = /^((?:crash\.)?until\.)(.+)$/.exec(delay) ?? []
      const i = BUDGET_INSTANTS.indexOf(/** @type {never} */ (instant))
      const other = BUDGET_INSTANTS[i + 1] ?? BUDGET_INSTANTS[i - 1]
      if (i < 0 || other === undefined) return []
      return [{ what: delay, change: (config) => changedAt(config, [...path, 'after'], () => ({ [`${prefix}${other}`]: transition })) }]
    }),
  'wrong order': ({ path, node }) => {
    const work = workOf(node)
    const input = /** @type {((args: { context: object }) => Record<string, unknown[]>) | undefined} */ (work?.['input'])
    const list = { destroy: 'functions', preShutdownHooks: 'hooks' }[String(work?.['src'])]
    if (input === undefined || list === undefined) return []
    const reversed = (/** @type {{ context: object }} */ args) => ({ ...input(args), [list]: [...(input(args)[list] ?? [])].reverse() })
    return [{ what: 'input', change: (config) => changedAt(config, [...path, 'invoke', 'input'], () => reversed) }]
  },
}

/** What each operator finds to change in what a machine's names stand for. @type {Record<string, (machine: Machine) => { what: string, implementations: object }[]>} */
export const IMPLEMENTATION_OPERATORS = {
  'timeout doubled': ({ config, implementations }) => {
    const names = new Set(sitesOf(/** @type {Config} */ (config)).flatMap(({ node }) => Object.keys(node['after'] ?? {})))
    return [...names].map((name) => {
      const delay = /** @type {unknown} */ (implementations.delays[name])
      const doubled = typeof delay === 'function' ? (/** @type {unknown[]} */ ...args) => 2 * delay(...args) : 2 * Number(delay)
      return { what: name, implementations: { delays: { [name]: doubled } } }
    })
  },
  /** An action that is a list of others, without those of one kind. */
  'part of an action dropped': ({ implementations }) =>
    Object.entries(implementations.actions).flatMap(([name, action]) => {
      const { type, collect } = /** @type {{ type?: string, collect?: (args: { enqueue: Enqueue }, params: unknown) => void }} */ (
        /** @type {unknown} */ (action)
      )
      if (type !== 'xstate.enqueueActions' || !collect) return []
      const kinds = new Set([...String(collect).matchAll(/\benqueue(?:\.(\w+))?\(/g)].map(([, kind = 'action']) => kind))
      return [...kinds].map((kind) => ({
        what: `${name}, ${kind}`,
        implementations: {
          actions: {
            [name]: enqueueActions((args, params) =>
              collect({ ...args, enqueue: without(/** @type {Enqueue} */ (/** @type {unknown} */ (args.enqueue)), kind) }, params),
            ),
          },
        },
      }))
    }),
}

/** @typedef {{ (action: unknown): void, [kind: string]: (...args: never[]) => void }} Enqueue */

/** @param {Enqueue} enqueue @param {string} kind @returns {Enqueue} */
const without = (enqueue, kind) =>
  Object.assign(kind === 'action' ? () => {} : (/** @type {unknown} */ action) => enqueue(action), {
    ...enqueue,
    ...(kind !== 'action' && { [kind]: () => {} }),
  })

/** @param {Site} site @param {(transition: { path: readonly unknown[] }) => boolean} isMeant @returns {Change[]} */
const dropped = ({ path, node }, isMeant) =>
  transitionsOf(node)
    .filter(isMeant)
    .map(({ path: below, name }) => ({ what: name, change: (config) => changedAt(config, [...path, ...below], () => undefined) }))

/** @param {unknown} action */
function actionName(action) {
  if (typeof action === 'string') return action
  const { type, params } = /** @type {{ type?: string, params?: { type?: string, name?: string } }} */ (action)
  const what = typeof params === 'object' ? [params.type, params.name].filter(Boolean).join(' ') : ''
  return `${type ?? 'action'}${what && ` ${what}`}`
}

const isRaise = (/** @type {unknown} */ action) => isObject(action) && /** @type {{ type?: string }} */ (action).type === 'xstate.raise'
