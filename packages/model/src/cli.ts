#!/usr/bin/env node
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { AnyStateMachine } from 'xstate'
import {
  check,
  type Environment,
  type Exploration,
  explore,
  noDeadlock,
  noErrors,
  type Property,
  printTrace,
  sequenceDiagram,
  unreached,
  untaken,
  untakenText,
  type Verdict,
} from './index.ts'
import { nearest } from './near.ts'

const USAGE = `quiesce-model MODULE [--states-max N] [--mermaid]

Explores every state of a system of xstate actors, and prints which properties fail, with the shortest sequence of steps to the failure.
MODULE is an ES module. Its default export is the root machine. It may also export:

  input        the input that the root machine is started with
  events       the events that may come from outside: a list, or a function of the state of the root machine
  children     what promises, callbacks and observables may do, by the name of their source or by their id
  alike        lists of ids of children that differ in nothing but their ids, and so are explored in one order
  properties   properties that have to hold, besides no-errors and no-deadlock

  --states-max N   give up after N states (default 1000000)
  --mermaid        also print the steps to the first failure as a Mermaid sequence diagram

The output lists the verdicts, then states that no run reaches and transitions that no run takes, then the steps to the first failure.
A property whose condition never comes true is vacuous: it fails, unless it is wrapped in mayBeVacuous().

Exit code: 0 when every property holds, 1 when one does not, 2 when the module cannot be checked.
`

/** What a module to check exports. */
interface System extends Environment {
  readonly default?: AnyStateMachine
  readonly properties?: readonly Property[]
}

async function main(): Promise<number> {
  const { values, positionals } = parsed()
  const [path, ...more] = positionals
  if (values.help) return print(USAGE, 0)
  if (path === undefined || more.length > 0) throw new Error(`give one module; there were ${positionals.length}; see --help`)
  const statesMax = Number(values['states-max'] ?? 1_000_000)
  if (!(Number.isInteger(statesMax) && statesMax > 0))
    throw new Error(`--states-max: got ${values['states-max']}, allowed: a whole number above 0`)
  const { default: machine, properties = [], input, events, children, alike } = await systemIn(path)
  if (machine === undefined) throw new Error(`${path}: the module has no default export; export the root machine as default`)
  const exploration = explore(machine, { statesMax, input, events, children, alike })
  const verdicts = check(exploration, [noErrors(), noDeadlock(), ...properties])
  const { stateCount, edgeCount } = exploration.graph
  const trace = verdicts.find(({ holds }) => !holds)?.trace
  const lines = [`${machine.id}: ${stateCount} states, ${edgeCount} edges`, ...verdicts.map(lineOf), ...coverageLines(exploration)]
  const way = trace ? ['', printTrace(trace).trimEnd(), ...(values.mermaid ? ['', sequenceDiagram(trace).trimEnd()] : [])] : []
  return print(`${[...lines, ...way].join('\n')}\n`, verdicts.every(({ holds }) => holds) ? 0 : 1)
}

const FLAGS = { 'states-max': { type: 'string' }, mermaid: { type: 'boolean' }, help: { type: 'boolean' } } as const

function parsed() {
  try {
    return parseArgs({ allowPositionals: true, options: FLAGS })
  } catch (thrown) {
    const [, flag = ''] = /'--([^' ]+)/.exec((thrown as Error).message) ?? []
    const near = nearest(flag, Object.keys(FLAGS))
    throw new Error(`${(thrown as Error).message}${near === undefined || near === flag ? '' : ` (did you mean --${near}?)`}`)
  }
}

const EXPORTS: readonly string[] = Object.keys({
  default: true,
  input: true,
  events: true,
  children: true,
  alike: true,
  properties: true,
} satisfies Record<keyof System, true>)

/** A module may export more, but nothing that looks like a slip of the hand. */
async function systemIn(path: string): Promise<System> {
  const module = (await import(pathToFileURL(resolve(path)).href)) as object
  for (const name of Object.keys(module).filter((other) => !EXPORTS.includes(other))) {
    const meant = nearest(name, EXPORTS)
    if (meant !== undefined && meant !== 'default' && !(meant in module))
      throw new Error(`${path}: exports ${name}, which is not read (did you mean "${meant}"?)`)
  }
  return module as System
}

const lineOf = ({ id, text, holds, vacuous }: Verdict): string =>
  `  ${holds ? 'holds' : 'FAILS'}  ${id}: ${text}${vacuous === undefined ? '' : ` (vacuous: ${vacuous})`}`

/** What no run comes to: mistakes of the machine, or of what it is explored with. */
function coverageLines(exploration: Exploration): string[] {
  const states = unreached(exploration).map(({ state }) => `  never reached: ${state}`)
  const transitions = untaken(exploration).filter(({ why }) => why !== 'unreached')
  return [...states, ...transitions.map((transition) => `  never taken: ${untakenText(transition)}`)]
}

function print(text: string, code: number): number {
  process.stdout.write(text)
  return code
}

main().then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`quiesce-model: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 2
  },
)
