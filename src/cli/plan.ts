import { optionError, QuiesceError } from '../base/errors.ts'
import { createServer } from '../create-server.ts'
import type { Life } from '../lifecycle/life.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import { planOf } from '../model/life/lifecycle-model.ts'
import { flagsOf } from '../options/kit/flags.ts'
import { type LifecycleOptions, resolveServerOptions } from '../options/options.ts'
import type { DefaultDuration } from '../options/times.ts'
import { readArguments } from './arguments.ts'
import { sourcesOf } from './command-host.ts'
import { firstLine } from './first-line.ts'
import { settingsAround } from './flags.ts'
import type { CliHost } from './host.ts'
import { LIFE_MODULE_ALLOWED, readLifeModule } from './life-module.ts'
import { PLAN_FLAGS, PLAN_OPTIONS, TIME_OPTIONS } from './plan-flags.ts'
import { planText, printedPlan } from './printed-plan.ts'
import type { SettingsSources } from './serving.ts'
import { messagesOf, refusedBesideConfig, resolvedFrom, valuesOf } from './settings.ts'

/**
 * Prints how much time each kind of stop gives to what, as this life would have it in this process.
 * @throws QuiesceError for arguments that cannot be used and for a life that cannot be composed,
 * one line for every problem
 */
export async function planCommand(host: CliHost, args: readonly string[]): Promise<ExitCode> {
  const { config, json, times, unsaid } = await readPlanFlags(await sourcesOf(host, args))
  const life = config === undefined ? builtIn(times) : (await readLifeModule('--config', config)).life
  // What has a plan is a Lifecycle: `isLife` knows it by that.
  const { options } = life as Lifecycle
  const of = config ?? `${BUILT_IN}, without hooks; --config prints the plan of your server`
  const printed = printedPlan(
    of,
    { ...options, chosen: { ...options.chosen, ...ofBuiltIn(options.chosen, unsaid) } },
    composed(life, config),
  )
  host.stdout.write(json ? `${JSON.stringify(printed, undefined, 2)}\n` : planText(printed))
  return 0
}

/**
 * A life without anything of the user's, with the times of the platform that this process is on.
 */
const builtIn = (times: LifecycleOptions): Life => createServer({ listener: () => {} }, { ...times, logger: false })

const BUILT_IN = 'quiesce serve'

/** What the command line of the built-in server gives in the place of its user. */
const ofBuiltIn = (chosen: Readonly<Record<string, DefaultDuration>>, unsaid: readonly string[]): Record<string, DefaultDuration> =>
  Object.fromEntries(
    unsaid.flatMap((name) => {
      const choice = chosen[name]
      return choice ? [[name, { ...choice, because: `default of ${BUILT_IN}` }]] : []
    }),
  )

interface PlanFlags {
  readonly config: string | undefined
  readonly json: boolean
  readonly times: LifecycleOptions
  /** The times that the command line does not say. */
  readonly unsaid: readonly string[]
}

/** @throws QuiesceError ERR_OPTION_INVALID with one line for every problem */
async function readPlanFlags({ args, facts, ...sources }: SettingsSources): Promise<PlanFlags> {
  const given = readArguments('quiesce plan', flagsOf(PLAN_FLAGS), args)
  const { resolved, problems: ofCommand } = resolvedFrom(PLAN_OPTIONS, given.settings)
  // The server of a module has its options in its code, and may be run without this command.
  const around = given.settings.has('config') ? undefined : await settingsAround(sources)
  const settings = new Map([...(around?.settings ?? []), ...given.settings])
  const { options, problems: unread, wording } = valuesOf(TIME_OPTIONS, settings)
  const refused = messagesOf(() => resolveServerOptions(options, { ...wording, facts }))
  const all = [
    ...given.problems,
    ...(around?.problems ?? []),
    ...ofCommand,
    ...unread,
    ...refused,
    ...(resolved.config === undefined ? [] : refusedBesideConfig(TIME_OPTIONS, settings)),
  ]
  if (all.length > 0) throw new QuiesceError('ERR_OPTION_INVALID', all.join('\n'))
  const said = new Set(flagsOf(TIME_OPTIONS).flatMap(({ name, option }) => (settings.has(name) ? [option] : [])))
  const unsaid = resolved.config === undefined ? Object.keys(options).filter((name) => !said.has(name)) : []
  return { ...resolved, times: options, unsaid }
}

function composed(life: Life, config: string | undefined): LifePlan {
  try {
    return planOf(life)
  } catch (thrown) {
    if (!(thrown instanceof QuiesceError) || config === undefined) throw thrown
    throw optionError('--config', config, `${LIFE_MODULE_ALLOWED} (${firstLine(thrown.message)})`)
  }
}
