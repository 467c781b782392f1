import { raiseEvent, type StateConfig, say } from './region.ts'
import { BUDGET_INSTANTS, type BudgetInstant, cutSignal } from './signals.ts'

/**
 * The one bound over the whole end of a life. From StopRequested a chain of delays walks through
 * the instants at which each group of phases is cut, counted back from the deadline so that the
 * late phases keep their reserve. A crash during the drain starts a second, shorter chain;
 * whichever is first decides, so nothing moves the deadline further away. The cuts themselves latch
 * in order, once each.
 */
export const budgetRegion: StateConfig = {
  id: 'budget',
  initial: 'untouched',
  states: {
    untouched: { on: { StopRequested: 'spending' } },
    spending: {
      type: 'parallel',
      states: {
        deadline: { initial: firstState(), states: chain('until.') },
        crash: { initial: 'none', states: { none: { on: { 'process.crashed': firstState() } }, ...chain('crash.until.') } },
        cuts: { initial: firstState(), states: latches() },
      },
    },
  },
}

function firstState(): string {
  return BUDGET_INSTANTS[0]
}

/** A state per instant, each left after its delay for the next. */
function chain(delayPrefix: string): StateConfig {
  return eachInstant((instant, next) => ({
    after: { [`${delayPrefix}${instant}`]: { target: next, actions: raiseEvent({ type: `due.${instant}` }) } },
  }))
}

/**
 * A state per instant, left when a chain says that it is due; a second chain saying so again finds
 * the state already left.
 */
function latches(): StateConfig {
  return eachInstant((instant, next) => ({
    on: {
      [`due.${instant}`]: {
        target: next,
        actions: [say({ type: 'signal', name: cutSignal(instant), outcome: 'ok' }), raiseEvent({ type: cutSignal(instant) })],
      },
    },
  }))
}

function eachInstant(state: (instant: BudgetInstant, next: string) => StateConfig): StateConfig {
  const states = BUDGET_INSTANTS.map((instant, i) => [instant, state(instant, BUDGET_INSTANTS[i + 1] ?? 'spent')])
  return { ...Object.fromEntries(states), spent: {} }
}
