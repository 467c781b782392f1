import type { Exploration } from '../engine/explore.ts'
import { checkGiven, EXPLORED, ModelError } from '../errors.ts'
import type { Property } from '../properties/property.ts'
import { PROMELA_RUNTIME } from './runtime.ts'
import { type MonitorTable, monitorTable, type PromelaTables, tablesOf } from './tables.ts'

/**
 * A system as a Promela model, for spin to explore. Each actor is a table: what it does for each
 * event in each of its states, as xstate has computed it. How they work together (mailboxes,
 * starts, stops, timers, the choices of the environment) is C code in the model, so spin finds the
 * states of the whole by itself: as many as `explore`, and one before the start.
 *
 *     spin -a model.pml && gcc -O2 -DSAFETY -DVECTORSZ=8192 -o pan pan.c && ./pan -m1000000
 *
 * @param property one about what is said (`monitored`, `inOrder`, `atMostOnce`), as an assertion
 * @throws ModelError ERR_MODEL_UNSUPPORTED for a property that is not about what is said, for
 * events that are a function, and for a system with children that are `alike`
 */
export function promela(exploration: Exploration, property?: Property): string {
  checkGiven('promela(exploration, property?)', 'exploration', exploration, EXPLORED, 'graph', 'model')
  const tables = tablesOf(exploration)
  const monitor = property && monitorOf(exploration, property, tables)
  return `${[
    `/* ${exploration.model.machine.id}, as @quiesce/model has explored it: ${exploration.graph.stateCount} states. */`,
    ...(property ? [`/* ${property.id}: ${inComment(property.text)} */`] : []),
    ...declarations(tables, monitor),
    ...constants(tables, monitor),
    `c_code {${PROMELA_RUNTIME}}`,
    processOf(tables, monitor),
  ].join('\n\n')}\n`
}

function monitorOf(exploration: Exploration, { id, monitor }: Property, { choices }: PromelaTables): MonitorTable {
  if (!monitor)
    throw new ModelError(
      'ERR_MODEL_UNSUPPORTED',
      `promela: got the property ${id}, allowed: one about what is said, which monitored(), inOrder() or atMostOnce() makes`,
    )
  return monitorTable(exploration, monitor, choices)
}

function declarations({ slots, timersMax }: PromelaTables, monitor: MonitorTable | undefined): string[] {
  return [
    `c_decl {
\\#include <stdio.h>
\\#include <string.h>
enum { SLOTS = ${slots.length}, TIMERS = ${timersMax}, BROKEN = -1 };
/* The state of the system: where each actor stands, and its pending timers. 0 is none. */
struct Sys { int wrong; int monitor; int local[SLOTS]; short timer[SLOTS][TIMERS]; };
}`,
    `c_code { struct Sys sys = { 0, ${monitor?.initial ?? 0} }; }`,
    'c_track "&sys" "sizeof(struct Sys)"',
  ]
}

/** The tables, each in pieces, because spin takes no long text at once. */
function constants({ slots, locals, ends, rows, steps, commands, timers, choices, root }: PromelaTables, monitor?: MonitorTable): string[] {
  const opaque: number[] = []
  const taken = choices.map(({ kind, slot, what, locals: own }) => {
    const from = opaque.length
    opaque.push(...own)
    return [kind, slot, what, from, opaque.length]
  })
  const names = slots.map(({ text }, i) => `   ${i} ${text === '' ? '(the root)' : inComment(text)}`)
  const sizes = `ROOT = ${root}, ROWS = ${rows.length}, ENDS = ${ends.length}${monitor ? `, MONITOR_ROWS = ${monitor.rows.length}, HEARD_ROWS = ${monitor.heard.length}` : ''}`
  return [
    `c_code { enum { ${sizes} }; }`,
    ['/* The actors by their number:', ...names, '*/'].join('\n'),
    '/* The parent of each, and its name. */',
    ...table(
      'slots',
      slots.map(({ parent, id }) => [parent, id]),
      2,
    ),
    '/* Of each state of an actor: 0 explored, 1 opaque, 2 over. */',
    ...table('locals', list(locals), 1),
    '/* Of one that is over, and its name: what the parent hears. */',
    ...table('ends', ends, 3),
    '/* In this state, for this event: this step. */',
    ...table('rows', rows, 3),
    '/* The state after it, and its commands. */',
    ...table('steps', steps, 3),
    ...table('commands', commands, 3),
    '/* Name, event, whom it is for, and the same when that is over, or begins. */',
    ...table('timers', timers, 5),
    '/* What may happen: its kind, whose it is, what it is, and in which states of an opaque actor. */',
    ...table('choices', taken, 5),
    ...table('opaque', list(opaque), 1),
    ...(monitor
      ? [
          '/* In this state of the property, after these words: this state. */',
          ...table('monitor_rows', monitor.rows, 3),
          '/* In this state of it, when this is about to happen: this state. */',
          ...table('heard_rows', monitor.heard, 3),
          ...table('wrong_at_rest', list(monitor.wrongAtRest.map(Number)), 1),
          'c_code {\n#define MONITOR\n}',
        ]
      : []),
  ]
}

const PIECE = 512

function table(name: string, rows: readonly (readonly number[])[], width: number): string[] {
  const pieces = Array.from({ length: Math.max(1, Math.ceil(rows.length / PIECE)) }, (_, i) => rows.slice(i * PIECE, (i + 1) * PIECE))
  return [
    ...pieces.map((piece, i) => {
      // C has no empty arrays.
      const all = piece.length > 0 ? piece : [Array<number>(width).fill(0)]
      const lines = Array.from({ length: Math.ceil(all.length / 12) }, (_, line) =>
        all
          .slice(line * 12, (line + 1) * 12)
          .map((row) => `{${row.join()}}`)
          .join(),
      )
      return `c_code { static const int ${name}_${i}[][${width}] = {\n${lines.join(',\n')}}; }`
    }),
    `c_code { static const int (*const ${name}[])[${width}] = {${pieces.map((_, i) => `${name}_${i}`).join()}}; }`,
  ]
}

const list = (values: readonly number[]): number[][] => values.map((value) => [value])
const inComment = (text: string): string => text.replaceAll('*/', '* /').replaceAll('\n', ' ')

function processOf({ choices }: PromelaTables, monitor: MonitorTable | undefined): string {
  const sound = '; c_code [sys.wrong == 0] { ; }'
  const holds = monitor ? '; c_code [sys.monitor != BROKEN] { ; }' : ''
  const options = choices.map(
    ({ label }, i) => `  :: d_step { c_expr { (can(${i})) } -> c_code { take(${i}); }${sound}${holds} } /* ${inComment(label)} */`,
  )
  return `active proctype system()
{
  d_step { c_code { begin(); }${sound}${holds} }
end:
  do
${options.join('\n')}
  od
}`
}
