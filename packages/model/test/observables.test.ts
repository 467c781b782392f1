// Fails when: children made of observables, which are opaque to the explorer, do anything in xstate
// that the explorer does not know of.
import { type Observable, Subject } from 'rxjs'
import { expect, test } from 'vitest'
import { type AnyMachineSnapshot, assign, createActor, fromEventObservable, fromObservable, setup } from 'xstate'
import { type Choice, rejects, resolves } from '../src/index.ts'
import { events, explored } from './machines.ts'

/** It counts what its feed says, and goes on without its gauge when that ends. */
const watching = (feed: () => Observable<{ readonly type: 'item' }>, gauge: () => Observable<number>) =>
  setup({
    types: {} as { context: { readonly items: number; readonly log: string } },
    guards: { room: ({ context }) => context.items < 2 },
    actors: { feed: fromEventObservable(feed), gauge: fromObservable(gauge) },
  }).createMachine({
    id: 'watching',
    context: { items: 0, log: '' },
    type: 'parallel',
    states: {
      feed: {
        initial: 'open',
        states: {
          open: {
            invoke: {
              id: 'feed',
              src: 'feed',
              onDone: { target: 'closed', actions: assign({ log: ({ event }) => `done ${event.output}` }) },
              onError: { target: 'broken', actions: assign({ log: ({ event }) => (event.error as Error).message }) },
            },
            on: { item: { guard: 'room', actions: assign({ items: ({ context }) => context.items + 1 }) }, leave: 'left' },
          },
          closed: {},
          broken: {},
          left: {},
        },
      },
      gauge: {
        initial: 'reading',
        states: { reading: { invoke: { id: 'gauge', src: 'gauge', onDone: 'read', onError: 'unreadable' } }, read: {}, unreadable: {} },
      },
    },
  })

const LOST = Object.assign(new Error('lost'), { stack: undefined })

/** The machine with real observables, which say what a choice says. */
class Live {
  readonly feed = new Subject<{ readonly type: 'item' }>()
  readonly gauge = new Subject<number>()
  readonly actor = createActor(
    watching(
      () => this.feed,
      () => this.gauge,
    ),
  ).start()

  take({ kind, path, event }: Choice): void {
    // What an observable has read is its own; no other actor is told.
    this.gauge.next(Math.PI)
    const subject = path.id === 'feed' ? this.feed : this.gauge
    if (kind === 'event') this.actor.send(event.object as never)
    else if (kind === 'message') this.feed.next(event.object as { readonly type: 'item' })
    else if (event.type.startsWith('xstate.error.')) subject.error((event.object as unknown as { readonly error: unknown }).error)
    else subject.complete()
  }

  get configuration() {
    const { value, context, status, children } = this.actor.getSnapshot() as AnyMachineSnapshot
    return { value, context, status, children: Object.keys(children).sort(), subscribed: [this.feed.observed, this.gauge.observed] }
  }
}

test('next, error and complete of observables are what a message and the outcomes say, in every state', () => {
  const never = new Subject<never>()
  const machine = watching(
    () => never,
    () => never,
  )
  const { graph } = explored(machine, {
    events: events('leave'),
    children: {
      feed: { sends: events('item'), outcomes: [resolves(), rejects(LOST)] },
      gauge: { outcomes: [resolves(), rejects(LOST)] },
    },
  })
  expect(graph.stateCount).toBeGreaterThan(30)
  for (const state of graph.states.keys()) {
    for (const edge of graph.edgesOf(state)) {
      const live = new Live()
      for (const taken of [...graph.pathTo(state), edge.index]) live.take(graph.choice(taken))
      const { local, children } = graph.states[edge.to] ?? {}
      const ids = children?.map(({ id }) => id) ?? []
      expect([edge.choice.label, live.configuration]).toEqual([
        edge.choice.label,
        {
          value: local?.configuration?.value,
          context: local?.configuration?.context,
          status: local?.status,
          children: ids,
          subscribed: [ids.includes('feed'), ids.includes('gauge')],
        },
      ])
      live.actor.stop()
    }
  }
})
