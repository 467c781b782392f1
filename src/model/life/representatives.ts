import type { LifePlan } from '../../machines/lifecycle.ts'

/**
 * Post-start hooks differ in nothing but their names: each runs beside the others, without a bound
 * and without an order, and the rest of a life sees of all of them only whether one has failed and
 * whether one still runs. So three can stand for any number, in the eyes of a property that looks
 * at one of them: the one it looks at, one that fails before all others, and one that ends after
 * them. And they can end in the order in which they are registered, because every other order is
 * that one under other names. Each further hook would double the states and more, and the orders
 * would double them again (docs/decisions/0099).
 */
export const REPRESENTATIVES = 3

/** A life whose hooks are no more, and end in no more orders, than is needed. */
export interface ReducedPlan extends LifePlan {
  /** Whether post-start hooks end in the order of registration only. Default false. */
  readonly endInOrder?: boolean
}

/**
 * The same life with no more post-start hooks than are needed to see what all of them can do.
 * @param endInOrder false where all orders are needed
 */
export const withRepresentatives = (plan: LifePlan, endInOrder = true): ReducedPlan => {
  const { postStartHooks = [] } = plan
  return postStartHooks.length < 2 ? plan : { ...plan, postStartHooks: postStartHooks.slice(0, REPRESENTATIVES), endInOrder }
}
