import type { AnyStateNode, StateValue, StateValueMap } from 'xstate'
import { ModelError } from '../errors.ts'
import { hint } from '../near.ts'
import type { ContextKeys } from './context-keys.ts'
import { remembered } from './memo.ts'
import type { LocalState, Logic } from './state.ts'

/** What properties see of a machine: a name that it lacks is refused. */

/** The keys that those who print, compare or await an object ask of every one. */
const ASKED_OF_ALL = /^(?:toJSON|then|nodeType|tagName|asymmetricMatch)$|\W|^[$_@]/

type Asked = (key: string) => void

/** The same object for the same data, so that it can be compared. */
const shownContexts = new WeakMap<object, object>()

/** The context of a state that was explored. */
export function contextShown({ logic, configuration, reduced }: LocalState): unknown {
  const { contextKeys, name } = logic
  if (!configuration || !contextKeys) return reduced
  return remembered(shownContexts, configuration.context, () => noting(configuration.context, (key) => contextKeys.assertKnown(key, name)))
}

/** The context while states are explored: what it is asked for is known to be there only later. */
export const contextNow = (context: object, { asked }: ContextKeys): object => noting(context, (key) => void asked.add(key))

const noting = <T extends object>(target: T, isAsked: Asked): T =>
  new Proxy(target, {
    get: (_, key) => {
      if (typeof key === 'string' && !(key in target) && !ASKED_OF_ALL.test(key)) isAsked(key)
      return Reflect.get(target, key)
    },
  })

const shownValues = new WeakMap<object, StateValue>()

/** Where a machine stands, as xstate has it. */
export function valueShown({ machine }: Logic, value: StateValue): StateValue {
  if (typeof value === 'string' || !machine) return value
  return regionsOf(machine.root, value, '')
}

/** Made once for each value: states in which a region stands alike have the same object for it. */
const regionsOf = (node: AnyStateNode, value: StateValueMap, path: string): StateValue =>
  remembered(shownValues, value, () => {
    const shown: StateValueMap = {}
    for (const [key, part] of Object.entries(value)) {
      const child = node.states[key]
      shown[key] = child && typeof part === 'object' ? regionsOf(child, part, `${path}${key}.`) : part
    }
    return noting(shown, (key) => {
      if (!Object.hasOwn(node.states, key)) throw unknownState(node, key, path)
    })
  })

const unknownState = ({ machine, states }: AnyStateNode, key: string, path: string): ModelError => {
  const names = Object.keys(states).map((name) => path + name)
  return new ModelError('ERR_MODEL_UNKNOWN', `${machine.id}: there is no state "${path}${key}"${hint(path + key, names)}`, {
    machine: machine.id,
    name: path + key,
    names,
  })
}
