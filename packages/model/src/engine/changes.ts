import { ModelError } from '../errors.ts'
import { changeIn } from './canonical.ts'
import { stepInWords, type Where } from './purely.ts'

/**
 * Looks again at plain data that code of the user's was given: it is one object in many states, and
 * a change in place would change all of them unseen. Freezing it would stop modules in sloppy mode
 * silently, and freeze data that is the user's for ever.
 * @throws ModelError ERR_MODEL_MUTATED
 */
export function assertUnchanged(value: unknown, path: string, where: Where): void {
  const change = changeIn(value, path)
  if (change) throw mutated(change.path, change, where)
}

export const mutated = (path: string, { before, after }: { readonly before: string; readonly after: string }, where: Where): ModelError =>
  new ModelError(
    'ERR_MODEL_MUTATED',
    `${stepInWords(where)}: ${path} was changed in place, from ${brief(before)} to ${brief(after)}; assign a new value instead. ` +
      'Snapshots of xstate share the old value, so a change in place changes earlier states too',
    { ...where, path, before, after },
  )

const brief = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text)
