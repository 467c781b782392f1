import type { Mode } from '../machines/wiring.ts'
import { isOutsideEvent, OUTSIDE_EVENTS } from '../model/life/lifecycle-model.ts'
import type { CommandFlag } from './arguments.ts'
import { LIFE_MODULE_ALLOWED } from './life-module.ts'

export const MODES = ['refuse', 'retry-after'] as const satisfies readonly Mode[]
export const STATES_MAX = 1_000_000

export const CHECK_FLAGS: readonly CommandFlag[] = [
  { name: 'config', kind: 'text', allowed: LIFE_MODULE_ALLOWED, default: 'a server without hooks', meaning: 'The life to check' },
  {
    name: 'mode',
    kind: 'text',
    allowed: [...MODES, 'both'].join(', '),
    default: "the life's own, or both without --config",
    meaning: 'How new requests are refused while draining',
    accepts: (value) => [...MODES, 'both'].some((mode) => mode === value),
  },
  {
    name: 'outside',
    kind: 'text',
    allowed: `a list, by commas, of ${OUTSIDE_EVENTS.join(', ')}`,
    default: 'start,stop',
    meaning: 'What may come from outside, at any time and any number of times. Each one multiplies the states',
    accepts: (value) => value.split(',').every(isOutsideEvent),
  },
  {
    name: 'timed',
    kind: 'switch',
    allowed: '',
    default: 'off',
    meaning: 'Check bounds in time as well: the deadline and the reserves of the late phases. Takes longer',
  },
  { name: 'property', kind: 'text', allowed: 'the id of a property', default: 'all of them', meaning: 'Check only this one' },
  {
    name: 'states-max',
    kind: 'text',
    allowed: 'a whole number from 1 to 999999999',
    default: String(STATES_MAX),
    meaning: 'Give up when there are more states than this',
    accepts: (value) => /^[1-9]\d{0,8}$/.test(value),
  },
  {
    name: 'trace-file',
    kind: 'text',
    allowed: 'a file name',
    default: 'none',
    meaning: 'Write the first counter-example there, as a journal that the inspector shows; without one the file is left alone',
  },
  { name: 'mermaid', kind: 'switch', allowed: '', default: 'off', meaning: 'Print the counter-example as a Mermaid sequence diagram, too' },
]
