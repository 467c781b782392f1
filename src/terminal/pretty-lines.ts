import { inspect } from 'node:util'
import { clip, GREY, oneLine, painter, RED, wrap, YELLOW } from '../base/cells.ts'
import { ERROR_CODES, type ErrorCode } from '../base/errors.ts'
import type { StopReason } from '../base/events.ts'
import { look } from '../base/look.ts'
import { describeReason } from '../report/describe-reason.ts'

/** Values longer than this are for machines; a person at a terminal sees their beginning. */
const VALUE_WIDTH_MAX = 600
/**
 * Fields that are not shown: the message has those times that decide; `quiesce plan` prints them
 * all.
 */
const HIDDEN = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err', 'defaults'])
const LEVELS: Readonly<Record<number, { readonly name: string; readonly color: number }>> = {
  20: { name: 'DEBUG', color: GREY },
  30: { name: 'INFO ', color: 36 },
  40: { name: 'WARN ', color: YELLOW },
  50: { name: 'ERROR', color: RED },
}
/** What goes on stands below the level. */
const INDENT = 13
/** The indent in a window that is not three times as wide. */
const INDENT_NARROW = 2

export interface PrettyOptions {
  readonly color: boolean
  /** Cells of a line, asked for every time; undefined: a line may be as long as it is. */
  readonly columns?: () => number | undefined
}

/**
 * A formatter that turns pino's JSON lines into lines for people: time, level, message, fields, and
 * an error's stack below, wrapped at words. What is not such a line passes as it is.
 */
export const prettyFormat =
  ({ color, columns = () => undefined }: PrettyOptions) =>
  (jsonLine: string): string => {
    const entry = parse(jsonLine)
    if (!entry) return jsonLine
    const paint = painter(color)
    const { name, color: levelColor } = LEVELS[Number(entry['level'])] ?? { name: String(entry['level']), color: 0 }
    const fields = Object.entries(entry)
      .filter(([key, value]) => !HIDDEN.has(key) && !says(String(entry['msg']), value))
      .map(
        ([key, value]) =>
          ` ${paint(GREY, `${oneLine(key)}=`)}${clip(isReason(value) ? describeReason(value) : text(value), VALUE_WIDTH_MAX)}`,
      )
    const line = `${timeOf(entry['time'])} ${paint(levelColor, name)} ${oneLine(String(entry['msg']))}${fields.join('')}`
    return `${afterEcho(entry)}${wrapped(line, columns())}\n${stackOf(entry['err'])}`
  }

/** Why a stop was requested. */
const isReason = (value: unknown): value is StopReason =>
  typeof value === 'object' && value !== null && 'kind' in value && look(() => describeReason(value as StopReason)) !== undefined

/** The value with spaces between its parts, where a line can be broken. */
const text = (value: unknown): string =>
  typeof value === 'string' ? value : inspect(value, { compact: true, breakLength: Number.POSITIVE_INFINITY, depth: null })

function wrapped(line: string, columns: number | undefined): string {
  if (columns === undefined) return line
  const indent = columns >= INDENT * 3 ? INDENT : INDENT_NARROW
  return wrap(line, Math.max(1, columns - indent), columns).join(`\n${' '.repeat(indent)}`)
}

/** The terminal has shown `^C` where its cursor was, and this line is the first one after it. */
function afterEcho({ signal, reason }: Readonly<Record<string, unknown>>): string {
  const ofSystem = typeof reason === 'object' && reason !== null && 'signal' in reason ? reason.signal : undefined
  return signal === 'StopRequested' && ofSystem === 'SIGINT' ? '\n' : ''
}

/** Whether a message has a value already, as a word of its own: an address, a URL, a name. */
function says(message: string, value: unknown): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const at = message.indexOf(String(value))
  return at >= 0 && !isWord(message[at - 1]) && !isWord(message[at + String(value).length])
}

const isWord = (character: string | undefined): boolean => /\w/.test(character ?? ' ')

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line)
    return typeof entry === 'object' && entry !== null && 'msg' in entry ? (entry as Record<string, unknown>) : undefined
  } catch {
    // Not JSON, so not ours.
    return undefined
  }
}

function timeOf(time: unknown): string {
  const date = new Date(Number(time))
  return Number.isNaN(date.getTime())
    ? '--:--:--.---'
    : `${date.toTimeString().slice(0, 8)}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

const isOfEnvironment = (code: string): boolean =>
  Object.hasOwn(ERROR_CODES, code) && ERROR_CODES[code as ErrorCode].fault === 'environment'

function stackOf(err: unknown): string {
  if (typeof err !== 'object' || err === null) return ''
  const stack = 'stack' in err ? String(err.stack) : undefined
  // Where it was thrown is ours to know: what surrounds the process has to change.
  if (!stack || ('code' in err && isOfEnvironment(String(err.code)))) return ''
  return stack
    .split('\n')
    .map((line) => `    ${oneLine(line.trim())}\n`)
    .join('')
}
