import { readFileSync } from 'node:fs'

/** The tables of docs/connections.md, which are what is expected. Written by hand. */

export const TRANSPORTS = ['HTTP/1.1', 'HTTPS', 'h2', 'h2c', 'ws', 'wss'] as const
export type Transport = (typeof TRANSPORTS)[number]
export const MODES = ['refuse', 'retry-after'] as const
export type Mode = (typeof MODES)[number]
export const KINDS = ['attached', 'created'] as const
export type Kind = (typeof KINDS)[number]

/** What a row is about: a life of this kind, in this mode, with one connection. */
export interface Place {
  readonly over: Transport
  readonly mode: Mode
  readonly kind: Kind
}

export interface Row {
  /** The heading of its table: a column of the matrix. */
  readonly state: string
  /** What is under way when the stop comes; undefined when the state does not apply there. */
  readonly when: string | undefined
  readonly over: readonly Transport[]
  readonly kinds: readonly Kind[]
  readonly modes: readonly Mode[]
  /** The other columns. */
  readonly outcome: string
}

/** What is asked of a connection at least. */
export const STATES = [
  'Never used',
  'In its handshake',
  'Idle',
  'Busy',
  'Half sent',
  'Pipelined or multiplexed',
  'Streaming',
  'Upgraded',
] as const

const DOES_NOT_APPLY = /^does not apply: ./
const OVER = /^(?<names>[^(]+?)(?: \((?<kind>attached|created)\))?$/

export const ROWS: readonly Row[] = parse(readFileSync(new URL('../../docs/connections.md', import.meta.url), 'utf8'))

/** @throws Error for a row that names what there is not */
export function parse(document: string): readonly Row[] {
  const rows: Row[] = []
  let state = ''
  for (const line of document.split('\n')) {
    if (line.startsWith('## ')) state = line.slice(3)
    const [when = '', over = '', mode = '', ...outcome] = line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1)
    if (over === '' || over === 'over' || over === '---') continue
    const { names = '', kind } = OVER.exec(over)?.groups ?? {}
    rows.push({
      state,
      when: DOES_NOT_APPLY.test(when) ? undefined : when,
      over: names.split(', ').map((name) => oneOf(TRANSPORTS, name)),
      kinds: kind === undefined ? KINDS : [oneOf(KINDS, kind)],
      modes: mode === 'both' ? MODES : [oneOf(MODES, mode)],
      outcome: outcome.join(' | '),
    })
  }
  return rows
}

/** The rows of one place; none of them twice. */
export const rowsOf = ({ over, mode, kind }: Place, rows = ROWS): readonly Row[] =>
  rows.filter((row) => row.over.includes(over) && row.modes.includes(mode) && row.kinds.includes(kind))

function oneOf<T extends string>(all: readonly T[], name: string): T {
  const found = all.find((one) => one === name)
  if (found === undefined) throw new Error(`docs/connections.md: got ${name}, allowed: ${all.join(', ')}`)
  return found
}
