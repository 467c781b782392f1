import type { ErrorRecord, HookKind } from '../base/events.ts'
import { withoutName } from '../base/without-name.ts'
import { type HookView, phaseOfHook } from './view.ts'

/** What stands before the name of a hook in the error of its phase; the first is upstream's. */
const PREFIX: Readonly<Partial<Record<HookKind, string>>> = { 'pre-shutdown': 'PreShutdownHook', destroy: 'destroy function' }

/**
 * The errors of the hooks of a phase as one, in the order in which they ended; undefined for a
 * phase that is not about hooks. The machine of such a phase says only that it failed, and each
 * hook has said its own error.
 */
export function errorOfHooks(phase: string, hooks: Iterable<HookView>): ErrorRecord | undefined {
  const failed = [...hooks].filter((hook) => hook.outcome === 'failed' && PREFIX[hook.kind] !== undefined && phaseOfHook(hook) === phase)
  const inOrder = failed.sort((one, other) => (one.endedAt ?? 0) - (other.endedAt ?? 0))
  return inOrder.length === 0
    ? undefined
    : aggregate(
        inOrder.map(
          ({ kind, name, error }) => `${PREFIX[kind]} "${name}" failed: ${withoutName(error?.message ?? '', `${kind} hook "${name}"`)}`,
        ),
      )
}

/**
 * Several texts as one error: a single one as it is, several as `[a, b]`. @see apimachinery
 * pkg/util/errors/errors.go aggregate.Error
 */
const aggregate = (texts: readonly string[]): ErrorRecord => ({
  name: 'AggregateError',
  message: texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`,
})
