import { check, printTrace } from '#model'
import type { LifePlan } from '#src/machines/lifecycle.ts'
import { exploreLifecycle, invariantsOf } from '#src/model/life/lifecycle-model.ts'
import type { OutsideEvent } from '#src/model/life/outside-events.ts'
import { lifeInput } from './life-input.ts'

export type Plan = Partial<LifePlan> & Pick<LifePlan, 'mode'>

export const life = ({ input, ...plan }: Plan): LifePlan => ({ input: input ?? lifeInput(), ...plan })

/** The traces of the invariants that do not hold, by id. */
export function violated({ outside, ...plan }: Plan & { readonly outside?: readonly OutsideEvent[] }): Record<string, string> {
  const verdicts = check(exploreLifecycle(life(plan), { outside }), invariantsOf(life(plan)))
  return Object.fromEntries(verdicts.flatMap(({ id, trace }) => (trace ? [[id, printTrace(trace)]] : [])))
}
