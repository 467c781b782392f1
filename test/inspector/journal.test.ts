import { describe, expect, test } from 'vitest'
import type { LifecycleEvent } from '#src/base/events.ts'
import { Journal, type Source } from '#src/inspector/journal.ts'
import type { JournalEntry, OpeningEntry } from '#src/inspector/protocol.ts'
import type { Reader } from '#src/inspector/reading.ts'
import type { Report } from '#src/report/report.ts'

const OPENING: OpeningEntry = {
  kind: 'opening',
  format: 1,
  source: 'life',
  title: 'a test',
  wallAtStart: '2026-01-01T00:00:00Z',
  phases: [],
}
const signal = (name: string): LifecycleEvent => ({ at: 1, type: 'signal', name, outcome: 'ok' })
const REPORT = { exitCode: 0 } as Report
const sent = (text: string) => ({ kind: 'sent', to: 'x:0', event: { type: text } }) as const

/** Reads all there is whenever it is told. */
class EagerReader implements Reader {
  readonly #journal: Journal
  #read = 0
  readonly entries: JournalEntry[] = []
  hasEnded = false

  constructor(journal: Journal) {
    this.#journal = journal
  }

  more(): void {
    for (const { n, text } of this.#journal.after(this.#read)) {
      this.entries.push(JSON.parse(text) as JournalEntry)
      this.#read = n
    }
  }

  end(): undefined {
    this.more()
    this.hasEnded = true
  }

  get said(): string[] {
    return this.entries.map((entry) =>
      entry.kind === 'fact' && entry.event.type === 'signal' ? entry.event.name : entry.kind === 'sent' ? entry.event.type : entry.kind,
    )
  }
}

function newJournal(lengthMax?: number) {
  const journal = new Journal(() => 5, lengthMax === undefined ? {} : { lengthMax })
  const read = (): EagerReader => {
    const reader = new EagerReader(journal)
    journal.attach(reader)
    return reader
  }
  return { journal, read }
}

describe('a journal', () => {
  test('has the opening first, although facts come before it, and the report last', async () => {
    const { journal, read } = newJournal()
    journal.fact(signal('Early'))
    journal.open(OPENING)
    const reader = read()
    journal.fact(signal('Late'))
    await journal.end(REPORT)
    journal.fact(signal('Never'))
    expect(reader.said).toEqual(['opening', 'Early', 'Late', 'report'])
    expect(reader.entries.map(({ n }) => n)).toEqual([1, 2, 3, 4])
    expect(reader.hasEnded).toBe(true)
    expect(read().said).toEqual(reader.said)
  })

  test('asks its sources only while somebody reads, and a reader in the middle gets how things are', () => {
    const { journal, read } = newJournal()
    const calls: string[] = []
    const source: Source = {
      begin: () => {
        calls.push('begin')
        journal.write(sent('how things are'))
      },
      describe: () => void calls.push('describe'),
      end: () => void calls.push('end'),
    }
    journal.addSource(source)
    journal.open(OPENING)
    journal.fact(signal('A'))
    expect(calls).toEqual([])
    const first = new EagerReader(journal)
    const attached = journal.attach(first)
    expect(first.said).toEqual(['opening', 'A', 'how things are'])
    read()
    expect(calls).toEqual(['begin'])
    attached[Symbol.dispose]()
    expect(calls).toEqual(['begin'])
  })

  test('tells its sources to stop looking when the last reader has left, and at the end', async () => {
    const { journal } = newJournal()
    const calls: string[] = []
    journal.addSource({ begin: () => void calls.push('begin'), describe: () => {}, end: () => void calls.push('end') })
    journal.attach(new EagerReader(journal))[Symbol.dispose]()
    expect(calls).toEqual(['begin', 'end'])
    journal.attach(new EagerReader(journal))
    await journal.end(REPORT)
    expect(calls).toEqual(['begin', 'end', 'begin', 'end'])
  })

  test('goes on where a reader was cut off, unless something in between is missing', () => {
    const { journal, read } = newJournal()
    journal.open(OPENING)
    read()
    journal.fact(signal('A'))
    expect(journal.canResume(2)).toBe(true)
    expect(journal.after(2)).toEqual([])
    expect(journal.canResume(3)).toBe(false)
  })

  test('cannot go on where nobody has read along: what actors did meanwhile was not written', () => {
    const { journal } = newJournal()
    journal.open(OPENING)
    const attached = journal.attach(new EagerReader(journal))
    journal.fact(signal('A'))
    attached[Symbol.dispose]()
    journal.attach(new EagerReader(journal))
    expect(journal.canResume(2)).toBe(false)
  })

  test('is bounded: the oldest goes, but never a signal, and whoever comes then is told again how things are', () => {
    const { journal, read } = newJournal(20_000)
    let described = 0
    journal.addSource({ begin: () => {}, describe: () => void described++, end: () => {} })
    journal.open(OPENING)
    read()
    journal.fact(signal('A'))
    for (let index = 0; index < 1_000; index++) {
      journal.write(sent(`event ${index}`))
      journal.fact({ at: 1, type: 'error', where: 'GET /', error: { name: 'Error', message: `error ${index}` } })
    }
    const kept = journal.after(0)
    expect(kept.reduce((length, { text }) => length + text.length, 0)).toBeLessThanOrEqual(20_000)
    expect(kept.length).toBeGreaterThan(50)
    const late = read()
    expect(late.said.slice(0, 2)).toEqual(['opening', 'A'])
    expect(late.said).toContain('event 999')
    expect(late.said).not.toContain('event 0')
    expect(described).toBe(1)
    expect(journal.canResume(2)).toBe(false)
    expect(journal.isComplete(2)).toBe(false)
  })

  test('minds neither readers nor sources that throw', async () => {
    const { journal, read } = newJournal()
    const fail = (): never => {
      throw new Error('observer')
    }
    journal.addSource({ begin: fail, describe: fail, end: fail })
    journal.attach({ more: fail, end: fail })
    journal.open(OPENING)
    const reader = read()
    journal.attach({ more: () => {}, end: fail })
    journal.attach({ more: () => {}, end: () => Promise.reject(new Error('observer')) })
    journal.fact(signal('A'))
    await journal.end(REPORT)
    expect(reader.said).toEqual(['opening', 'A', 'report'])
  })

  test('keeps what cannot be serialised as far as it can', () => {
    const { journal, read } = newJournal()
    const circular: Record<string, unknown> = { big: 1n, deep: { call: () => 1 }, long: 'x'.repeat(10_000), many: new Set([1, 2]) }
    circular['self'] = circular
    Object.defineProperty(circular, 'bad', {
      enumerable: true,
      get: () =>
        new Proxy(
          {},
          {
            ownKeys: () => {
              throw new Error('no')
            },
          },
        ),
    })
    const reader = read()
    journal.write({ kind: 'sent', to: 'x:0', event: { type: 'e', circular } as { type: string } })
    expect(reader.entries).toMatchObject([
      { event: { circular: { self: '[circular]', big: '1', deep: { call: '[function]' }, many: [1, 2], bad: '[cannot be read]' } } },
    ])
    expect(JSON.stringify(reader.entries).length).toBeLessThan(5_000)
  })
})
