import type { LifePlan } from '../../machines/lifecycle.ts'

/**
 * Post-start hooks differ in nothing but their names: each runs beside the others, without a bound
 * and without an order, and the rest of a life sees of all of them only whether one has failed and
 * whether one still runs. So three can stand for any number, in the eyes of a property that looks
 * at one of them: the one it looks at, one that fails before all others, and one that ends after
 * them. Each further hook would double the states and more (docs/decisions/0099).
 */
export const REPRESENTATIVES = 3

/** The same life with no more post-start hooks than are needed to see what all of them can do. */
export const withRepresentatives = (plan: LifePlan): LifePlan => {
  const { postStartHooks = [] } = plan
  return postStartHooks.length <= REPRESENTATIVES ? plan : { ...plan, postStartHooks: postStartHooks.slice(0, REPRESENTATIVES) }
}
