import { broken, type Monitor, monitored, type Property } from '#model'
import { checkArguments } from '../../base/arguments.ts'
import type { LifePlan } from '../../machines/lifecycle.ts'
import type { PhaseRow } from '../../machines/wiring.ts'
import { factOf } from './facts.ts'
import { A_PLAN, specifiedWiring } from './specified.ts'

/**
 * Every edge of a life (`edges.ts`), with those of its mux-complete signals and of the user's
 * phases; the ids are `order/<signal>`.
 */
export function edgesOf(plan: LifePlan): Property[] {
  checkArguments('edgesOf(plan)', [plan, A_PLAN])
  return Object.entries(specifiedWiring(plan)).map(([phase, row]) => {
    const isIdle = row.workKind === 'regions' && !plan.postStartHooks?.length
    const { work: _, ...idle } = row
    return monitored(`order/${row.fires}`, textOf(phase, row), followsAtOnce(phase, isIdle ? idle : row))
  })
}

function textOf(phase: string, { after, work, unless, fires }: PhaseRow): string {
  const last = after.length > 1 ? `the last of ${after.join(', ')} comes` : `${after.join()} comes`
  const skipped = unless === undefined ? '' : `, or is skipped without ${unless}`
  return work === undefined ? `${fires} fires when ${last}` : `${phase} begins when ${last}${skipped}; ${fires} fires when it ends`
}

/**
 * The states are `waiting`, then what is missing, a line each; `begun`; `ended`, when its end was
 * said and its signal was not; `stopping`, when a stop came that has to end it; `over`. All but the
 * first and the second are left in the step in which they are entered.
 */
function followsAtOnce(phase: string, { lane, after, unless, work, workKind, fires }: PhaseRow): Monitor {
  const given = unless === undefined ? [] : [`${GIVEN}${unless}`]
  const missingIn = (state: string): string[] => state.split('\n').slice(1)
  const hasCome = (state: string, signal: string): string => {
    if (!state.startsWith(WAITING)) return state
    return [WAITING, ...missingIn(state).filter((name) => name !== signal && name !== `${GIVEN}${signal}`)].join('\n')
  }
  const isEarly = (state: string): boolean => missingIn(state).some((name) => !name.startsWith(GIVEN))
  return {
    initial: [WAITING, ...after, ...given].join('\n'),
    heard: (state, { kind, event }) => (kind === 'event' && after.includes(event.type) ? hasCome(state, event.type) : state),
    next: (state, effect) => {
      const fact = factOf(effect)
      if (fact === undefined || state === 'over') return state
      const missing = missingIn(state)
      switch (fact.type) {
        case 'forced':
        case 'ended':
          return 'over'
        case 'phase.started':
          if (fact.phase !== phase) return state
          if (work === undefined) return broken(`${phase} begins, though there is nothing to do`)
          return missing.length === 0 && state === WAITING ? 'begun' : broken(beforeText(`${phase} begins`, missing))
        case 'phase.ended': {
          if (fact.phase !== phase) return state
          if (fact.outcome === 'skipped') {
            if (state === 'stopping') return 'over'
            const isIdle = lane === 'stop' && state.startsWith(WAITING) && !isEarly(state) && missing.length > 0
            return isIdle ? 'ended' : broken(`${phase} is skipped for no reason`)
          }
          if (lane === 'start' && fact.outcome !== 'ok') return 'over'
          const isDue = work === undefined ? state === WAITING : state === 'begun'
          return isDue
            ? 'ended'
            : broken(work === undefined ? beforeText(`${fires} is said`, missing) : `${phase} ends without having begun`)
        }
        case 'signal':
          if (fact.name === fires) return state === 'ended' ? 'over' : broken(beforeText(`${fires} is said`, missing))
          if (fact.name === 'StopRequested' && lane === 'start') {
            const isEnded = state.startsWith(WAITING) || (state === 'begun' && workKind !== 'regions')
            return isEnded ? 'stopping' : state
          }
          return hasCome(state, fact.name)
        default:
          return state
      }
    },
    atRest: (state) => {
      if (state === 'ended') return `${phase} has ended, and ${fires} is not said`
      if (state === 'stopping') return `${phase} goes on after StopRequested`
      return state.startsWith(WAITING) && !isEarly(state) ? `${phase} has not begun, though ${after.join(' and ')} came` : undefined
    },
  }
}

const WAITING = 'waiting'
const GIVEN = '?'

const beforeText = (what: string, missing: readonly string[]): string =>
  missing.length === 0 ? `${what} a second time` : `${what} before ${missing.map((name) => name.replace(GIVEN, '')).join(' and ')}`
