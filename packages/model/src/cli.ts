#!/usr/bin/env node
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type { AnyStateMachine } from 'xstate'
import {
  check,
  type Environment,
  explore,
  noDeadlock,
  noErrors,
  type Property,
  printTrace,
  sequenceDiagram,
  type Verdict,
} from './index.ts'

const USAGE = `quiesce-model MODULE [--states-max N] [--mermaid]

Explores every state of a system of xstate actors and says what does not hold, with a shortest way there. MODULE is an ES module; its
default export is the root machine, and it may export as well:

  input        what the root machine is started with
  events       events that may come from outside: a list, or a function of where the root stands
  children     what promises, callbacks and other opaque children may do, by the name of their source
  properties   what has to hold beside no-errors and no-deadlock

  --states-max N   give up above so many states (default 1000000)
  --mermaid        the way to the first violation as a Mermaid sequence diagram as well

Exit code: 0 when everything holds, 1 when something does not, 2 for a module that cannot be checked.
`

/** What a module to check exports. */
interface System extends Environment {
  readonly default?: AnyStateMachine
  readonly properties?: readonly Property[]
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'states-max': { type: 'string' }, mermaid: { type: 'boolean' }, help: { type: 'boolean' } },
  })
  const [path, ...more] = positionals
  if (values.help) return print(USAGE, 0)
  if (path === undefined || more.length > 0) throw new Error(`one module is needed, ${positionals.length} were given; --help says more`)
  const statesMax = Number(values['states-max'] ?? 1_000_000)
  if (!(Number.isInteger(statesMax) && statesMax > 0))
    throw new Error(`--states-max: got ${values['states-max']}, allowed: a whole number above 0`)
  const { default: machine, properties = [], input, events, children } = (await import(pathToFileURL(resolve(path)).href)) as System
  if (typeof machine?.getInitialSnapshot !== 'function') throw new Error(`${path}: the default export is no xstate machine`)
  const exploration = explore(machine, { statesMax, input, ...(events && { events }), ...(children && { children }) })
  const verdicts = check(exploration, [noErrors(), noDeadlock(), ...properties])
  const { stateCount, edgeCount } = exploration.graph
  const trace = verdicts.find(({ holds }) => !holds)?.trace
  const lines = [`${machine.id}: ${stateCount} states, ${edgeCount} edges`, ...verdicts.map(lineOf)]
  const way = trace ? ['', printTrace(trace).trimEnd(), ...(values.mermaid ? ['', sequenceDiagram(trace).trimEnd()] : [])] : []
  return print(`${[...lines, ...way].join('\n')}\n`, trace ? 1 : 0)
}

const lineOf = ({ id, text, holds }: Verdict): string => `  ${holds ? 'holds' : 'FAILS'}  ${id}: ${text}`

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
