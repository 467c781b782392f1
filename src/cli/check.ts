import { writeFile } from 'node:fs/promises'
import { systemClock } from '../actors/clock.ts'
import { createServer } from '../create-server.ts'
import { optionError, toError } from '../errors.ts'
import type { JournalEntry } from '../inspector/protocol.ts'
import type { Life } from '../lifecycle/lifecycle.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import type { LifePlan } from '../machines/lifecycle.ts'
import type { Mode } from '../machines/wiring.ts'
import type { Exploration } from '../testing/model/explore.ts'
import { journalOf } from '../testing/model/journal.ts'
import { inWordsOfLife } from '../testing/model/life-trace.ts'
import {
  exploreLifecycle,
  invariantsOf,
  isOutsideEvent,
  OUTSIDE_EVENTS,
  type OutsideEvent,
  planOf,
} from '../testing/model/lifecycle-model.ts'
import { check, type Property, type Verdict } from '../testing/model/property.ts'
import { sequenceDiagram } from '../testing/model/sequence-diagram.ts'
import { printTrace, type Trace } from '../testing/model/trace.ts'
import { type CommandFlag, readArguments } from './arguments.ts'
import { didYouMean } from '../options/did-you-mean.ts'
import type { CliHost } from './cli.ts'
import { firstLine } from './first-line.ts'
import { LIFE_MODULE_ALLOWED, type LifeModule, readLifeModule } from './life-module.ts'

/** `quiesce check`: every state that a life can reach, and what has to hold in all of them. */

const MODES = ['refuse', 'retry-after'] as const satisfies readonly Mode[]
const STATES_MAX = 1_000_000

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
  { name: 'property', kind: 'text', allowed: 'the id of a property', default: 'all of them', meaning: 'Check only this one' },
  {
    name: 'states-max',
    kind: 'text',
    allowed: 'a whole number above 0',
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

/**
 * Prints the size of the life, each property's verdict, and the way to the first that does not hold.
 * @returns the exit code: 0 when everything holds, 1 when something does not
 * @throws QuiesceError for arguments that cannot be used and for a life that cannot be checked, one line for every problem
 */
export async function checkCommand(host: CliHost, args: readonly string[]): Promise<ExitCode> {
  const { values, switches } = readArguments('check', CHECK_FLAGS, args)
  const { config, mode, property } = values
  const { life, properties } = config === undefined ? BUILT_IN : await readLifeModule('--config', config)
  let first: Counterexample | undefined
  for (const plan of plansOf(life, mode, config)) {
    const from = systemClock.now()
    const exploration = exploreLifecycle(plan, { statesMax: Number(values['states-max'] ?? STATES_MAX), outside: outsideOf(values['outside']) })
    const chosen = choose([...invariantsOf(plan), ...properties], property)
    const verdicts = check(exploration, chosen)
    host.stdout.write(verdictsText(plan.mode, exploration, verdicts, systemClock.now() - from))
    const trace = verdicts.find(({ holds }) => !holds)?.trace
    if (trace) first ??= { id: verdicts.find(({ holds }) => !holds)?.id as string, trace, journal: () => journalOf(exploration, trace, plan) }
  }
  if (!first) return 0
  const trace = inWordsOfLife(first.trace)
  host.stdout.write(`\n${first.id}\n${printTrace(trace)}`)
  if (switches.has('mermaid')) host.stdout.write(`\n${sequenceDiagram(trace)}`)
  const file = values['trace-file']
  if (file !== undefined) await writeJournal(file, first.journal())
  return 1
}

interface Counterexample {
  readonly id: string
  readonly trace: Trace
  readonly journal: () => readonly JournalEntry[]
}

/** A life without anything of the user's. */
const BUILT_IN: LifeModule = { life: createServer({ listener: () => {} }, { logger: false }), properties: [] }

function plansOf(life: Life, mode: string | undefined, config: string | undefined): LifePlan[] {
  try {
    const own = planOf(life)
    if (mode === undefined && config !== undefined) return [own]
    return MODES.filter((name) => mode === undefined || mode === 'both' || mode === name).map((name) => ({ ...own, mode: name }))
  } catch (thrown) {
    throw config === undefined ? thrown : optionError('--config', config, `${LIFE_MODULE_ALLOWED} (${firstLine(toError(thrown).message)})`)
  }
}

const outsideOf = (text: string | undefined): readonly OutsideEvent[] | undefined => text?.split(',').filter(isOutsideEvent)

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

async function writeJournal(file: string, entries: readonly JournalEntry[]): Promise<void> {
  try {
    await writeFile(file, `${entries.map((entry) => JSON.stringify(entry)).join('\n')}\n`)
  } catch (thrown) {
    throw optionError('--trace-file', file, `a file that can be written (${firstLine(toError(thrown).message)})`)
  }
}
