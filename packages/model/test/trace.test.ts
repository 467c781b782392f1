// Fails when: a counter-example does not print what changed, its diagram is no diagram, or it does
// not replay on live actors.

import { expect, test } from 'vitest'
import { fromPromise, setup } from 'xstate'
import { always, printTrace, Replay, Stage, sequenceDiagram, type Trace, terminates } from '../src/index.ts'
import { events, explored, verdict } from './machines.ts'

const child = setup({
  actors: { drain: fromPromise(() => Promise.resolve()) },
  types: {} as { output: { readonly left: number } },
}).createMachine({
  id: 'drain',
  initial: 'draining',
  states: {
    draining: { invoke: { id: 'requests', src: 'drain', onDone: 'drained', onError: 'drained' }, after: { 10: 'drained' } },
    drained: { type: 'final' },
  },
  output: { left: 0 },
})

/** A server that closes its listener without waiting for the drain. */
const server = setup({ actions: { say: (_: unknown, _params: { readonly name: string }) => {} }, actors: { drain: child } }).createMachine({
  id: 'server',
  initial: 'serving',
  states: {
    serving: { on: { stop: 'stopping' } },
    stopping: {
      type: 'parallel',
      states: {
        drain: {
          initial: 'running',
          states: { running: { invoke: { id: 'drain', src: 'drain', onDone: 'done' } }, done: { type: 'final' } },
        },
        listener: {
          initial: 'open',
          states: {
            open: { after: { 5: { target: 'closed', actions: { type: 'say', params: { name: 'closed' } } } } },
            closed: { type: 'final' },
          },
        },
      },
      onDone: 'stopped',
    },
    stopped: { type: 'final' },
  },
})

const exploration = explored(server, { events: events('stop') })
const tooEarly = always(
  'listener/last',
  'the listener closes last',
  (root) => !root.matches({ stopping: { drain: 'running', listener: 'closed' } }) || 'closed while draining',
)

function traceOfViolation(): Trace {
  const { trace } = verdict(exploration, tooEarly)
  if (!trace) throw new Error('it holds')
  return trace
}

test('prints what changed, step by step', () => {
  expect(printTrace(traceOfViolation())).toBe(`0 start
    starts
1 stop
    serving → stopping.(drain: running, listener: open)
    sets timer 5.server.stopping.listener.open
    drain starts: draining
    drain: sets timer 10.drain.draining
    drain/requests starts
2 after 5.server.stopping.listener.open
    stopping.listener: open → closed
    timer 5.server.stopping.listener.open is over
    ! say {name:closed}
=> closed while draining
`)
})

test('is a Mermaid sequence diagram', () => {
  expect(sequenceDiagram(traceOfViolation())).toBe(`---
config:
  sequence:
    width: 60
    actorMargin: 8
---
sequenceDiagram
  participant env as environment
  participant a0 as root
  env->>a0: start
  Note over a0: starts
  env->>a0: stop
  Note over a0: serving → stopping.(drain: running,<br/>listener: open)<br/>sets timer 5.server.stopping.listener.open<br/>drain starts: draining<br/>drain: sets timer 10.drain.draining<br/>drain/requests starts
  a0->>a0: after 5.server.stopping.listener.open
  Note over a0: stopping.listener: open → closed<br/>timer 5.server.stopping.listener.open is<br/>over<br/>! say {name:closed}
  Note right of env: closed while draining
`)
})

test('a way round for ever is marked as such', () => {
  const { trace } = verdict(exploration, terminates('x', 'ends', { isEnd: () => false }))
  expect(trace && printTrace(trace)).toMatch(/=> nothing has to happen in this state/)
  const circle: Trace = { ...traceOfViolation(), finding: 'again', loopsFrom: 1 }
  expect(printTrace(circle)).toContain('-- the steps from here on repeat for ever --\n1 stop')
  expect(sequenceDiagram(circle)).toMatch(/ {2}loop for ever\n.* {2}end\n/s)
})

test('replays on live actors', () => {
  const replay = new Replay(new Stage(server))
  const violation = tooEarly.violation(exploration)
  for (const edge of violation?.edges ?? []) replay.take(exploration.graph.choice(edge))
  expect([replay.root.getSnapshot().value, replay.said]).toEqual([
    { stopping: { drain: 'running', listener: 'closed' } },
    ['say {"name":"closed"}'],
  ])
})

test('a choice that the live system does not offer is an error', () => {
  const timer = exploration.model.choices.all.all.find(({ kind }) => kind === 'timer')
  const replay = new Replay(new Stage(server))
  expect(() => timer && replay.take(timer)).toThrow(expect.objectContaining({ code: 'ERR_MODEL_REPLAY' }))
})
