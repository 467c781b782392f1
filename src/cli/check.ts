import { constants } from 'node:fs'
import { access, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type Exploration, ModelError, type Property, printTrace, promela, sequenceDiagram, type Trace } from '#model'
import { systemClock } from '../base/clock.ts'
import { didYouMean } from '../base/did-you-mean.ts'
import { optionError, QuiesceError, toError } from '../base/errors.ts'
import { createServer } from '../create-server.ts'
import type { JournalEntry } from '../inspector/protocol.ts'
import type { Life } from '../lifecycle/life.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import type { Mode } from '../machines/wiring.ts'
import { journalOf } from '../model/life/journal.ts'
import { inWordsOfLife } from '../model/life/life-trace.ts'
import { exploreLifecycle, invariantsOf, planOf, verdictsOf } from '../model/life/lifecycle-model.ts'
import { timedProperties } from '../model/life/lifecycle-timed.ts'
import { withRepresentatives } from '../model/life/representatives.ts'
import type { TlsOptions } from '../options/rows/tls.ts'
import type { Finding } from '../tls/examine.ts'
import { certificatesText, examineCertificates } from './check-certificates.ts'
import { type CheckSettings, readCheckFlags } from './check-flags.ts'
import { CheckProgress } from './check-progress.ts'
import { firstLine } from './first-line.ts'
import { type CliHost, renderOptions } from './host.ts'
import { LIFE_MODULE_ALLOWED, type LifeModule, readLifeModule } from './life-module.ts'
import { type CheckedMode, checkedMode, verdictsText } from './printed-verdicts.ts'

/**
 * Prints how many properties hold, those that do not, and the way to the first of them.
 * @returns the exit code: 0 when everything holds, 1 when something does not
 * @throws QuiesceError for arguments that cannot be used and for a life that cannot be checked, one
 * line for every problem
 */
export async function checkCommand(host: CliHost, args: readonly string[]): Promise<ExitCode> {
  const { options, tls } = readCheckFlags(args)
  const { config, mode, property, outside, statesMax, traceFile: file, promela: modelFile } = options
  // Not after minutes of work.
  if (file !== undefined) await writable('--trace-file', file)
  if (modelFile !== undefined) await writable('--promela', modelFile)
  const { life, properties } = config === undefined ? builtIn(tls) : await readLifeModule('--config', config)
  const style = { verbose: options.verbose, color: renderOptions(host).color }
  // What has a plan is a Lifecycle: `isLife` knows it by that.
  const certificates = await examineCertificates((life as Lifecycle).options)
  if (!options.json) host.stdout.write(certificatesText(certificates, style))
  const progress = new CheckProgress(host)
  const checked: CheckedMode[] = []
  let first: Counterexample | undefined
  const plans = about(options, () => plansOf(life, mode, config !== undefined))
  if (modelFile !== undefined && plans.length > 1)
    throw optionError('--promela', modelFile, 'together with --mode refuse or --mode retry-after')
  for (const whole of plans) {
    // A property of the user's may name any hook, and spin takes every order.
    const plan = properties.length === 0 ? withRepresentatives(whole, modelFile === undefined) : whole
    const from = systemClock.now()
    const onProgress = (found: number, taken: number): void => progress.update(plan.mode, found, taken)
    const exploration = about(options, () => exploreLifecycle(plan, { statesMax, outside, onProgress }))
    const chosen = choose([...invariantsOf(plan), ...(options.timed ? timedProperties() : []), ...properties], property)
    if (modelFile !== undefined) await writePromela(modelFile, exploration, property === undefined ? undefined : chosen[0])
    const verdicts = ofProperties(properties, options, () => verdictsOf(exploration, chosen, outside))
    progress.clear()
    const result = checkedMode(whole, plan, exploration, verdicts, systemClock.now() - from)
    checked.push(result)
    if (!options.json) host.stdout.write(verdictsText(result, style))
    const failed = verdicts.find(({ trace }) => trace)
    if (failed?.trace) first ??= counterexampleOf(failed.id, failed.trace, exploration, plan)
  }
  if (first && file !== undefined) await writeJournal(file, first.journal())
  const holds =
    checked.every(({ properties: asked }) => asked.every((verdict) => verdict.holds)) &&
    !certificates.some(({ verdict }) => verdict === 'fails')
  host.stdout.write(
    options.json ? documentOf({ holds, certificates, lives: checked }, first) : first ? counterexampleText(first, options.mermaid) : '',
  )
  return holds ? 0 : 1
}

interface Checked {
  readonly holds: boolean
  readonly certificates: readonly Finding[]
  readonly lives: readonly CheckedMode[]
}

const documentOf = (checked: Checked, first: Counterexample | undefined): string => {
  const counterexample = first ? { property: first.id, mode: first.mode, steps: printTrace(first.trace).trimEnd().split('\n') } : null
  return `${JSON.stringify({ ...checked, counterexample }, undefined, 2)}\n`
}

const counterexampleText = ({ id, trace }: Counterexample, mermaid: boolean): string =>
  `\n${id}\n${printTrace(trace)}${mermaid ? `\n${sequenceDiagram(trace)}` : ''}`

const MODES: readonly Mode[] = ['refuse', 'retry-after']

interface Counterexample {
  readonly id: string
  readonly mode: Mode
  readonly trace: Trace
  readonly journal: () => readonly JournalEntry[]
}

const counterexampleOf = (id: string, trace: Trace, exploration: Exploration, plan: LifePlan): Counterexample => ({
  id,
  mode: plan.mode,
  trace: inWordsOfLife(trace),
  journal: () => journalOf(exploration, trace, plan),
})

/** A life without anything of the user's but the certificates. */
const builtIn = (tls: TlsOptions | undefined): LifeModule => ({
  life: createServer({ listener: () => {} }, { logger: false, tls }),
  properties: [],
})

function plansOf(life: Life, mode: CheckSettings['mode'], isOwn: boolean): LifePlan[] {
  const own = planOf(life)
  if (mode === undefined && isOwn) return [own]
  return MODES.filter((name) => mode === undefined || mode === 'both' || mode === name).map((name) => ({ ...own, mode: name }))
}

/** What the life itself is refused for is named by the flag that brought it. */
function about<T>({ config, statesMax }: Pick<CheckSettings, 'config' | 'statesMax'>, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof ModelError && thrown.code === 'ERR_MODEL_LIMIT') throw tooManyStates(statesMax, thrown)
    if (!(thrown instanceof QuiesceError || thrown instanceof ModelError)) throw thrown
    throw config === undefined ? thrown : optionError('--config', config, `${LIFE_MODULE_ALLOWED} (${firstLine(thrown.message)})`)
  }
}

/**
 * What a property of the user's is refused for. Its module may have another copy of this package,
 * whose errors are known by their code.
 */
function ofProperties<T>(properties: readonly Property[], { config }: CheckSettings, work: () => T): T {
  try {
    return work()
  } catch (thrown) {
    const error = toError(thrown)
    const isOfModel = String((error as NodeJS.ErrnoException).code).startsWith('ERR_MODEL_')
    const own = properties.find(({ id }) => error.message.includes(id))
    if (config === undefined || !isOfModel || own === undefined) throw thrown
    const name = error.message.startsWith(own.id) ? '' : `${own.id}: `
    throw new QuiesceError('ERR_OPTION_INVALID', `properties in ${config}: ${name}${firstLine(error.message)}`, {}, thrown)
  }
}

function tooManyStates(statesMax: number, thrown: ModelError): QuiesceError {
  const { key, values } = thrown.details
  const hint = key === undefined ? '' : ` (the field with the most values is ${String(key)}, with ${String(values)})`
  return new QuiesceError(
    'ERR_OPTION_INVALID',
    `--states-max: this server has more than ${statesMax} states${hint}; allow more, or give fewer events with --outside`,
    thrown.details,
    thrown,
  )
}

function choose(properties: readonly Property[], id: string | undefined): readonly Property[] {
  if (id === undefined) return properties
  const chosen = properties.filter((property) => property.id === id)
  const ids = properties.map((property) => property.id)
  if (chosen.length === 0) throw optionError('--property', id, `${ids.join(', ')}${didYouMean(id, ids)}`)
  return chosen
}

const writable = (flag: string, file: string): Promise<void> =>
  access(dirname(resolve(file)), constants.W_OK).catch((error: unknown) => cannotWrite(flag, file, error))

const writeJournal = (file: string, entries: readonly JournalEntry[]): Promise<void> =>
  writeFile(file, `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`).catch((error: unknown) =>
    cannotWrite('--trace-file', file, error),
  )

async function writePromela(file: string, exploration: Exploration, property: Property | undefined): Promise<void> {
  let model: string
  try {
    model = promela(exploration, property)
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown
    throw optionError('--promela', file, `a property that can be an assertion (${firstLine(thrown.message)})`)
  }
  await writeFile(file, model).catch((error: unknown) => cannotWrite('--promela', file, error))
}

function cannotWrite(flag: string, file: string, error: unknown): never {
  throw optionError(flag, file, `a file that can be written (${firstLine(toError(error).message)})`)
}
