import { assign, fromCallback, fromPromise, setup } from 'xstate'

/** The wait after a failed try to open, which doubles each time. */
export const RETRY = { firstMs: 100, maxMs: 10_000 } as const

/** Tries from which on the wait grows no more; they are not counted any further. */
const TRIES_MAX = Math.ceil(Math.log2(RETRY.maxMs / RETRY.firstMs)) + 1

export type StoreEvent =
  | { readonly type: 'open' }
  | { readonly type: 'opened' }
  /** `isFinal`: trying again is no use. */
  | { readonly type: 'failed'; readonly isFinal: boolean }
  | { readonly type: 'recovered' }
  /** It reads, and does not write. */
  | { readonly type: 'degraded' }
  | { readonly type: 'lost' }
  | { readonly type: 'close' }

/**
 * The life of a store: it is opened when it is first wanted, and tried again when that fails; what
 * it can do changes, and comes back by itself; and it is closed once, when those who write have
 * ended. The machine knows of no engine: what opens it says what has become of it, and what it can
 * do from then on.
 */
export const storeMachine = setup({
  types: {} as {
    context: { readonly tries: number }
    events: StoreEvent
  },
  actors: {
    /** Ends with `opened` or `failed`. */
    engine: fromCallback<StoreEvent>(() => {}),
    close: fromPromise<void>(() => Promise.resolve()),
  },
  actions: {
    noteTry: assign({ tries: ({ context }) => Math.min(context.tries + 1, TRIES_MAX) }),
  },
  guards: {
    isFinal: (_, isFinal: boolean) => isFinal,
  },
  delays: {
    retry: ({ context }) => Math.min(RETRY.firstMs * 2 ** (context.tries - 1), RETRY.maxMs),
  },
}).createMachine({
  id: 'store',
  context: { tries: 0 },
  initial: 'unopened',
  states: {
    unopened: { on: { open: 'opening', close: 'closed' } },
    opening: {
      invoke: { id: 'open', src: 'engine' },
      entry: 'noteTry',
      on: {
        opened: 'open',
        failed: [{ guard: { type: 'isFinal', params: ({ event }) => event.isFinal }, target: 'refused' }, { target: 'waiting' }],
        close: 'closing',
      },
    },
    waiting: { after: { retry: 'opening' }, on: { close: 'closed' } },
    refused: { on: { close: 'closed' } },
    open: {
      initial: 'ready',
      on: { close: 'closing' },
      states: {
        ready: { on: { degraded: 'degraded', lost: 'lost' } },
        degraded: { on: { recovered: 'ready', lost: 'lost' } },
        lost: { on: { recovered: 'ready', degraded: 'degraded' } },
      },
    },
    closing: { invoke: { id: 'close', src: 'close', onDone: 'closed', onError: 'closed' } },
    closed: { type: 'final' },
  },
})
