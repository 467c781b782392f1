import { constants } from 'node:fs'
import { access, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { check, type Exploration, ModelError, type Property, printTrace, sequenceDiagram, type Trace, type Verdict } from '#model'
import { systemClock } from '../base/clock.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import { optionError, QuiesceError, toError } from '../base/errors.ts'
import { createServer } from '../create-server.ts'
import type { JournalEntry } from '../inspector/protocol.ts'
import type { Life } from '../lifecycle/life.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import type { Mode } from '../machines/wiring.ts'
import { journalOf } from '../model/life/journal.ts'
import { inWordsOfLife } from '../model/life/life-trace.ts'
import { exploreLifecycle, invariantsOf, planOf } from '../model/life/lifecycle-model.ts'
import { timedProperties } from '../model/life/lifecycle-timed.ts'
import type { ResolvedOf } from '../options/define.ts'
import { CHECK_OPTIONS } from './check-flags.ts'
import type { CliHost } from './cli.ts'
import { firstLine } from './first-line.ts'
import { LIFE_MODULE_ALLOWED, type LifeModule, readLifeModule } from './life-module.ts'
import { readOptions } from './settings.ts'

/**
 * Prints the size of the life, each property's verdict, and the way to the first that does not
 * hold.
 * @returns the exit code: 0 when everything holds, 1 when something does not
 * @throws QuiesceError for arguments that cannot be used and for a life that cannot be checked, one
 * line for every problem
 */
export async function checkCommand(host: CliHost, args: readonly string[]): Promise<ExitCode> {
  const { options } = readOptions('check', CHECK_OPTIONS, args)
  const { config, mode, property, outside, statesMax, traceFile: file } = options
  // Not after minutes of work.
  if (file !== undefined) await writable(file, dirname(resolve(file)))
  const { life, properties } = config === undefined ? builtIn() : await readLifeModule('--config', config)
  let first: Counterexample | undefined
  for (const plan of about(options, () => plansOf(life, mode, config !== undefined))) {
    const from = systemClock.now()
    const exploration = about(options, () => exploreLifecycle(plan, { statesMax, outside }))
    const chosen = choose([...invariantsOf(plan), ...(options.timed ? timedProperties() : []), ...properties], property)
    const verdicts = check(exploration, chosen)
    host.stdout.write(verdictsText(plan.mode, exploration, verdicts, systemClock.now() - from))
    const trace = verdicts.find(({ holds }) => !holds)?.trace
    if (trace)
      first ??= { id: verdicts.find(({ holds }) => !holds)?.id as string, trace, journal: () => journalOf(exploration, trace, plan) }
  }
  if (!first) return 0
  const trace = inWordsOfLife(first.trace)
  host.stdout.write(`\n${first.id}\n${printTrace(trace)}`)
  if (options.mermaid) host.stdout.write(`\n${sequenceDiagram(trace)}`)
  if (file !== undefined) await writeJournal(file, first.journal())
  return 1
}

type CheckOptions = ResolvedOf<typeof CHECK_OPTIONS>

const MODES: readonly Mode[] = ['refuse', 'retry-after']

interface Counterexample {
  readonly id: string
  readonly trace: Trace
  readonly journal: () => readonly JournalEntry[]
}

/** A life without anything of the user's. */
const builtIn = (): LifeModule => ({ life: createServer({ listener: () => {} }, { logger: false }), properties: [] })

function plansOf(life: Life, mode: CheckOptions['mode'], isOwn: boolean): LifePlan[] {
  const own = planOf(life)
  if (mode === undefined && isOwn) return [own]
  return MODES.filter((name) => mode === undefined || mode === 'both' || mode === name).map((name) => ({ ...own, mode: name }))
}

/** What the life itself is refused for is named by the flag that brought it. */
function about<T>({ config, statesMax }: Pick<CheckOptions, 'config' | 'statesMax'>, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof ModelError && thrown.code === 'ERR_MODEL_LIMIT') throw tooManyStates(statesMax, thrown)
    if (!(thrown instanceof QuiesceError || thrown instanceof ModelError)) throw thrown
    throw config === undefined ? thrown : optionError('--config', config, `${LIFE_MODULE_ALLOWED} (${firstLine(thrown.message)})`)
  }
}

function tooManyStates(statesMax: number, thrown: ModelError): QuiesceError {
  const { key, values } = thrown.details
  const hint = key === undefined ? '' : `; what has the most values of its own is ${String(key)} (${String(values)})`
  return new QuiesceError('ERR_OPTION_INVALID', `--states-max: this life has more than ${statesMax} states${hint}`, thrown.details, thrown)
}

function choose(properties: readonly Property[], id: string | undefined): readonly Property[] {
  if (id === undefined) return properties
  const chosen = properties.filter((property) => property.id === id)
  const ids = properties.map((property) => property.id)
  if (chosen.length === 0) throw optionError('--property', id, `${ids.join(', ')}${didYouMean(id, ids)}`)
  return chosen
}

function verdictsText(mode: Mode, { graph }: Exploration, verdicts: readonly Verdict[], ms: number): string {
  const width = Math.max(...verdicts.map(({ id }) => id.length))
  const lines = verdicts.map(({ id, text, holds }) => `  ${holds ? 'holds' : 'FAILS'}  ${id.padEnd(width)}  ${text}`)
  return `${mode}: ${graph.stateCount} states, ${graph.edgeCount} edges, ${(ms / 1_000).toFixed(1)} s\n${lines.join('\n')}\n`
}

const writable = (file: string, folder: string): Promise<void> =>
  access(folder, constants.W_OK).catch((error: unknown) => cannotWrite(file, error))

const writeJournal = (file: string, entries: readonly JournalEntry[]): Promise<void> =>
  writeFile(file, `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`).catch((error: unknown) => cannotWrite(file, error))

function cannotWrite(file: string, error: unknown): never {
  throw optionError('--trace-file', file, `a file that can be written (${firstLine(toError(error).message)})`)
}
