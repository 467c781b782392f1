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

Explores every state of a system of xstate actors and says what does not hold, with a shortest way there. MODULE is an ES module; its
default export is the root machine, and it may export as well:

  input        what the root machine is started with
  events       events that may come from outside: a list, or a function of where the root stands
  children     what promises, callbacks and observables may do, by the name of their source or by their id
  properties   what has to hold beside no-errors and no-deadlock

  --states-max N   give up above so many states (default 1000000)
  --mermaid        the way to the first violation as a Mermaid sequence diagram as well

It prints the verdicts, then states that no run reaches and transitions that none takes, then the way to the first violation. A property
whose condition comes true in no run is vacuous, and fails unless it is wrapped in mayBeVacuous().

Exit code: 0 when everything holds, 1 when something does not, 2 for a module that cannot be checked.
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
  if (path === undefined || more.length > 0) throw new Error(`one module is needed, ${positionals.length} were given; --help says more`)
  const statesMax = Number(values['states-max'] ?? 1_000_000)
  if (!(Number.isInteger(statesMax) && statesMax > 0))
    throw new Error(`--states-max: got ${values['states-max']}, allowed: a whole number above 0`)
  const { default: machine, properties = [], input, events, children } = await systemIn(path)
  if (machine === undefined) throw new Error(`${path}: has no default export, which has to be the root machine`)
  const exploration = explore(machine, { statesMax, input, events, children })
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

const EXPORTS: readonly string[] = ['default', 'input', 'events', 'children', 'properties'] satisfies readonly (keyof System)[]

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
