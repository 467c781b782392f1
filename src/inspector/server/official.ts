import type { JournalEntry, OpeningEntry, StateEntry } from '../protocol.ts'

/** The version of `@statelyai/inspect` whose messages these are. */
const VERSION = '0.7.2'

interface MessageBase {
  readonly _version: string
  /** Milliseconds since the epoch. */
  readonly createdAt: string
  readonly id: null
  readonly rootId: string | undefined
  readonly sessionId: string
}

interface InspectedSnapshot {
  readonly status: StateEntry['status']
  readonly value?: unknown
  readonly context: unknown
}

/**
 * What the official inspector of xstate understands. It knows actors, events and snapshots, and
 * nothing else.
 */
export type OfficialMessage = MessageBase &
  (
    | {
        readonly type: '@xstate.actor'
        readonly name: string
        readonly parentId: string | undefined
        readonly definition: string
        readonly snapshot: InspectedSnapshot
      }
    | { readonly type: '@xstate.event'; readonly event: { readonly type: string }; readonly sourceId: string | undefined }
    | { readonly type: '@xstate.snapshot'; readonly event: { readonly type: string }; readonly snapshot: InspectedSnapshot }
  )

/**
 * A journal in the words of the Stately inspect protocol. It needs an actor's first snapshot with
 * the actor itself, so what comes before that waits for it.
 */
export class OfficialTranslator {
  readonly #definitionOf: (machine: string) => string | undefined
  readonly #contexts = new Map<string, unknown>()
  /** Actors without a snapshot yet, and what was sent to them meanwhile. */
  readonly #unseen = new Map<string, { readonly actor: Extract<JournalEntry, { kind: 'actor' }>; readonly sent: OfficialMessage[] }>()
  #wallAtStart = 0
  #root: string | undefined

  /** @param definitionOf the JSON of a machine's config by its id */
  constructor(definitionOf: (machine: string) => string | undefined) {
    this.#definitionOf = definitionOf
  }

  messages(entry: JournalEntry): OfficialMessage[] {
    switch (entry.kind) {
      case 'opening':
        this.#begin(entry)
        return []
      case 'actor':
        if (entry.parent === undefined) this.#root = entry.actor
        this.#unseen.set(entry.actor, { actor: entry, sent: [] })
        return []
      case 'sent':
        return this.#sent(entry)
      case 'state':
        return this.#state(entry)
      case 'actor.stopped':
        this.#contexts.delete(entry.actor)
        return []
      default:
        return []
    }
  }

  #begin({ wallAtStart }: OpeningEntry): void {
    this.#wallAtStart = Date.parse(wallAtStart)
    this.#contexts.clear()
    this.#unseen.clear()
  }

  #sent(entry: Extract<JournalEntry, { kind: 'sent' }>): OfficialMessage[] {
    const message: OfficialMessage = { ...this.#base(entry.at, entry.to), type: '@xstate.event', event: entry.event, sourceId: entry.from }
    const unseen = this.#unseen.get(entry.to)
    if (!unseen) return [message]
    unseen.sent.push(message)
    return []
  }

  #state(entry: Extract<JournalEntry, { kind: 'state' }>): OfficialMessage[] {
    if (entry.context !== undefined) this.#contexts.set(entry.actor, entry.context)
    const snapshot = { status: entry.status, value: entry.value, context: this.#contexts.get(entry.actor) ?? {} }
    const base = this.#base(entry.at, entry.actor)
    const unseen = this.#unseen.get(entry.actor)
    this.#unseen.delete(entry.actor)
    const changed: OfficialMessage = { ...base, type: '@xstate.snapshot', event: { type: entry.on ?? 'xstate.init' }, snapshot }
    if (!unseen) return [changed]
    const { name, parent, machine } = unseen.actor
    const definition = (machine === undefined ? undefined : this.#definitionOf(machine)) ?? JSON.stringify({ id: machine ?? name })
    return [{ ...base, type: '@xstate.actor', name, parentId: parent, definition, snapshot }, ...unseen.sent, changed]
  }

  #base(at: number, sessionId: string): MessageBase {
    return { _version: VERSION, createdAt: String(Math.round(this.#wallAtStart + at)), id: null, rootId: this.#root, sessionId }
  }
}

/** A machine's config as the protocol wants it: what is no data is left out. */
export function definitionText(config: unknown): string | undefined {
  try {
    return JSON.stringify(config)
  } catch {
    // A config that refers to itself has no text; the machine is known by its id.
    return undefined
  }
}
