import { optionError, QuiesceError } from '../base/errors.ts'
import { createServer } from '../create-server.ts'
import type { Life } from '../lifecycle/life.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import { planOf } from '../model/life/lifecycle-model.ts'
import type { CliHost } from './cli.ts'
import { firstLine } from './first-line.ts'
import { LIFE_MODULE_ALLOWED, readLifeModule } from './life-module.ts'
import { PLAN_OPTIONS } from './plan-flags.ts'
import { planText, printedPlan } from './printed-plan.ts'
import { readOptions } from './settings.ts'

/**
 * Prints how much time each kind of stop gives to what, as this life would have it in this process.
 * @throws QuiesceError for arguments that cannot be used and for a life that cannot be composed, one line for every problem
 */
export async function planCommand({ stdout }: CliHost, args: readonly string[]): Promise<ExitCode> {
  const { config, json } = readOptions('plan', PLAN_OPTIONS, args).options
  const life = config === undefined ? builtIn() : (await readLifeModule('--config', config)).life
  // What has a plan is a Lifecycle: `isLife` knows it by that.
  const printed = printedPlan((life as Lifecycle).options, composed(life, config))
  stdout.write(json ? `${JSON.stringify(printed, undefined, 2)}\n` : planText(printed))
  return 0
}

/** A life without anything of the user's, with the times of the platform that this process is on. */
const builtIn = (): Life => createServer({ listener: () => {} }, { logger: false })

function composed(life: Life, config: string | undefined): LifePlan {
  try {
    return planOf(life)
  } catch (thrown) {
    if (!(thrown instanceof QuiesceError) || config === undefined) throw thrown
    throw optionError('--config', config, `${LIFE_MODULE_ALLOWED} (${firstLine(thrown.message)})`)
  }
}
