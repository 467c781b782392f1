import fc from 'fast-check'

/** What may be done to a life, as data: it is printed when a sequence fails, and shrinks. */
export type Command =
  | { readonly do: 'connect' }
  | { readonly do: 'request'; readonly on: number; readonly what: 'quick' | 'slow' | 'watch' | 'deaf' }
  | { readonly do: 'half' | 'rest' | 'answer' | 'leave'; readonly on: number }
  | { readonly do: 'probe'; readonly path: '/readyz' | '/livez' }
  | { readonly do: 'signal'; readonly name: 'SIGTERM' | 'SIGINT' }
  | { readonly do: 'stop' | 'crash' | 'listener-dies' | 'owner-closes' | 'hold' | 'release' }
  | { readonly do: 'advance'; readonly ms: number }

/**
 * How a piece of user code behaves; `late` answers after its time, `heeds` waits for its signal,
 * `hangs` for nothing.
 */
export type Behaviour = 'returns' | 'slow' | 'late' | 'fails' | 'fails-slowly' | 'heeds' | 'hangs'

export interface Setting {
  readonly mode: 'refuse' | 'retry-after'
  /** `attached` is a server of the user's, without hooks; `bare` has none either. */
  readonly kind: 'bare' | 'hooked' | 'attached'
  readonly delay: boolean
  readonly portIsTaken: boolean
  readonly postStart: Behaviour
  readonly preShutdown: Behaviour
  readonly preShutdown2: Behaviour
  readonly destroy: Behaviour
  readonly phase: Behaviour
  readonly auditRun: Behaviour
  readonly auditShutdown: Behaviour
}

export interface Sequence {
  readonly setting: Setting
  readonly commands: readonly Command[]
}

const behaviour = fc.oneof(
  { weight: 6, arbitrary: fc.constant('returns' as const) },
  { weight: 5, arbitrary: fc.constantFrom<Behaviour>('slow', 'late', 'fails', 'fails-slowly', 'heeds', 'hangs') },
)
const mostly = (usual: boolean) => fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constant(!usual) })

const setting: fc.Arbitrary<Setting> = fc.record({
  mode: fc.constantFrom('refuse', 'retry-after'),
  kind: fc.constantFrom('bare', 'hooked', 'hooked', 'attached'),
  delay: fc.boolean(),
  portIsTaken: mostly(false),
  postStart: behaviour,
  preShutdown: behaviour,
  preShutdown2: behaviour,
  destroy: behaviour,
  phase: behaviour,
  auditRun: fc.oneof({ weight: 9, arbitrary: fc.constant('returns' as const) }, { weight: 1, arbitrary: behaviour }),
  auditShutdown: behaviour,
})

/** Which connection: the first are meant most. */
const on = fc.nat({ max: 3 })
const advance = fc.constantFrom(0, 1, 100, 499, 501, 1_000, 1_500, 2_000, 4_000, 9_000).map((ms): Command => ({ do: 'advance', ms }))
const ending = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('SIGTERM', 'SIGTERM', 'SIGINT').map((name): Command => ({ do: 'signal', name: name as 'SIGTERM' })),
  },
  { weight: 2, arbitrary: fc.constant<Command>({ do: 'stop' }) },
  { weight: 1, arbitrary: fc.constantFrom<Command>({ do: 'crash' }, { do: 'listener-dies' }, { do: 'owner-closes' }) },
)
const traffic = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Command>({ do: 'connect' }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('request'),
      on,
      what: fc.constantFrom('quick', 'slow', 'slow', 'watch', 'deaf'),
    }) as fc.Arbitrary<Command>,
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('half', 'rest', 'answer', 'answer', 'leave'), on }) as fc.Arbitrary<Command> },
  { weight: 1, arbitrary: fc.constantFrom('/readyz', '/livez').map((path): Command => ({ do: 'probe', path: path as '/readyz' })) },
  { weight: 1, arbitrary: fc.constantFrom<Command>({ do: 'hold' }, { do: 'release' }) },
)

/** A life: it serves, something ends it, and what goes on then. */
export const sequence: fc.Arbitrary<Sequence> = fc.record({
  setting,
  commands: fc
    .tuple(
      fc.array(fc.oneof({ weight: 8, arbitrary: traffic }, { weight: 2, arbitrary: advance }), { maxLength: 10 }),
      ending,
      fc.array(fc.oneof({ weight: 6, arbitrary: traffic }, { weight: 4, arbitrary: advance }, { weight: 1, arbitrary: ending }), {
        maxLength: 12,
      }),
    )
    .map(([before, end, after]) => [...before, end, ...after]),
})
