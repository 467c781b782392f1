import { optionError, show } from '../engine.ts'
import type { ApiGroup } from './api-group.ts'

/** Groups that are installed when they have been found. */
export interface AwaitedGroups extends Disposable {
  /** Rejects as what finds them does, and when they cannot be installed. */
  readonly installed: Promise<void>
}

/**
 * Has groups installed that come later. What is returned takes them back, or keeps them from being
 * installed.
 * @throws QuiesceError ERR_OPTION_INVALID for what is no promise
 */
export function awaitedGroups(
  name: string,
  groups: PromiseLike<readonly ApiGroup[]>,
  install: (groups: readonly ApiGroup[]) => Disposable,
): AwaitedGroups {
  if (typeof (groups as PromiseLike<unknown> | undefined)?.then !== 'function')
    throw optionError(`groups of ${show(name)}`, groups, 'a promise of a list of groups')
  let isWanted = true
  let taken: Disposable | undefined
  return {
    installed: Promise.resolve(groups).then((all) => {
      if (isWanted) taken = install(all)
    }),
    [Symbol.dispose]: () => {
      isWanted = false
      taken?.[Symbol.dispose]()
    },
  }
}
