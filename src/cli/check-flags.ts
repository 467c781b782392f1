import { QuiesceError } from '../base/errors.ts'
import { OUTSIDE_EVENTS } from '../model/life/outside-events.ts'
import { composeOptions, defineOptions, option, pickOptions, type ResolvedOf } from '../options/kit/define.ts'
import { flagsOf } from '../options/kit/flags.ts'
import { choice, file, integer, list, present, text } from '../options/kit/kinds.ts'
import { LISTEN_OPTIONS } from '../options/rows/listeners.ts'
import type { TlsOptions } from '../options/rows/tls.ts'
import { readArguments } from './arguments.ts'
import { lifeModule } from './life-module.ts'
import { filesOf, overwritten } from './same-file.ts'
import { refusedBesideConfig, resolvedFrom, valuesOf } from './settings.ts'

export const CHECK_OPTIONS = defineOptions({
  config: option(lifeModule(), { flag: 'config', defaultWords: 'a server without hooks', meaning: 'Module with the server to check' }),
  mode: option(choice('refuse', 'retry-after', 'both'), {
    flag: 'mode',
    defaultWords: 'that of the server; both without --config',
    meaning: 'How new requests are refused while draining',
  }),
  outside: option(list(OUTSIDE_EVENTS), {
    flag: 'outside',
    default: ['start', 'stop'],
    meaning: 'Events from outside that may happen at any time and any number of times. Each one multiplies the states',
  }),
  timed: option(present(), {
    flag: 'timed',
    default: false,
    meaning: 'Also check times: the deadline, and the time that is kept for late phases. Takes longer',
  }),
  verbose: option(present(), { flag: 'verbose', default: false, meaning: 'Print properties that hold as well as those that fail' }),
  json: option(present(), {
    flag: 'json',
    default: false,
    meaning: 'Print one JSON document: every property with its verdict, and the steps that lead to a failure',
  }),
  property: option(
    { ...text('the id of a property'), placeholder: 'ID' },
    { flag: 'property', defaultWords: 'all of them', meaning: 'Check only this property' },
  ),
  statesMax: option(integer(1, 999_999_999), {
    flag: 'states-max',
    default: 1_000_000,
    meaning: 'Give up after this many states',
  }),
  traceFile: option(file(), {
    flag: 'trace-file',
    defaultWords: 'none',
    meaning:
      'Write the first counter-example to this file, as a journal for the inspector. The file is not touched when every property holds',
  }),
  promela: option(file(), {
    flag: 'promela',
    defaultWords: 'none',
    meaning: 'Write the system to this file as a Promela model for spin, with the property of --property as an assertion. Needs one --mode',
  }),
  mermaid: option(present(), {
    flag: 'mermaid',
    default: false,
    meaning: 'Also print the counter-example as a Mermaid sequence diagram',
  }),
})

/** The certificates of `quiesce serve` and `quiesce run`. */
const CERTIFICATE_OPTIONS = pickOptions(LISTEN_OPTIONS, ['tls'])

/** The flags of `quiesce check`. */
export const CHECK_FLAGS = composeOptions(CHECK_OPTIONS, CERTIFICATE_OPTIONS)

export type CheckSettings = ResolvedOf<typeof CHECK_OPTIONS>

interface CheckFlags {
  readonly options: CheckSettings
  readonly tls: TlsOptions | undefined
}

/** @throws QuiesceError ERR_OPTION_INVALID with one line for every problem */
export function readCheckFlags(args: readonly string[]): CheckFlags {
  const { settings, problems } = readArguments('quiesce check', flagsOf(CHECK_FLAGS), args)
  const { resolved, problems: ofCommand } = resolvedFrom(CHECK_OPTIONS, settings)
  const { options, problems: unread } = valuesOf(CERTIFICATE_OPTIONS, settings)
  const { problems: refused } = resolvedFrom(CERTIFICATE_OPTIONS, settings)
  const beside = resolved.config === undefined ? [] : refusedBesideConfig(CERTIFICATE_OPTIONS, settings)
  const { outputs, inputs } = filesOf(flagsOf(CHECK_FLAGS), settings)
  const all = [...new Set([...problems, ...ofCommand, ...unread, ...refused, ...beside, ...overwritten(outputs, inputs)])]
  if (all.length > 0) throw new QuiesceError('ERR_OPTION_INVALID', all.join('\n'))
  return { options: resolved, tls: options['tls'] as TlsOptions | undefined }
}
