import { OUTSIDE_EVENTS } from '../model/life/lifecycle-model.ts'
import { defineOptions, option } from '../options/define.ts'
import { choice, integer, list, present, text } from '../options/kinds.ts'
import { LIFE_MODULE_ALLOWED } from './life-module.ts'

export const CHECK_OPTIONS = defineOptions({
  config: option(text(LIFE_MODULE_ALLOWED), { flag: 'config', defaultWords: 'a server without hooks', meaning: 'The life to check' }),
  mode: option(choice('refuse', 'retry-after', 'both'), {
    flag: 'mode',
    defaultWords: "the life's own, or both without --config",
    meaning: 'How new requests are refused while draining',
  }),
  outside: option(list(OUTSIDE_EVENTS), {
    flag: 'outside',
    default: ['start', 'stop'],
    meaning: 'What may come from outside, at any time and any number of times. Each one multiplies the states',
  }),
  timed: option(present(), {
    flag: 'timed',
    default: false,
    meaning: 'Check bounds in time as well: the deadline and the reserves of the late phases. Takes longer',
  }),
  property: option(text('the id of a property'), { flag: 'property', defaultWords: 'all of them', meaning: 'Check only this one' }),
  statesMax: option(integer(1, 999_999_999), {
    flag: 'states-max',
    default: 1_000_000,
    meaning: 'Give up when there are more states than this',
  }),
  traceFile: option(text('a file name'), {
    flag: 'trace-file',
    defaultWords: 'none',
    meaning: 'Write the first counter-example there, as a journal that the inspector shows; without one the file is left alone',
  }),
  mermaid: option(present(), {
    flag: 'mermaid',
    default: false,
    meaning: 'Print the counter-example as a Mermaid sequence diagram, too',
  }),
})
