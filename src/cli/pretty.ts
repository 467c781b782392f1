import { clip, GREY, oneLine, painter, RED, YELLOW } from '../base/cells.ts'

/** Values longer than this are for machines; a person at a terminal sees their beginning. */
const VALUE_WIDTH_MAX = 60
const HIDDEN = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err'])
const LEVELS: Readonly<Record<number, { readonly name: string; readonly color: number }>> = {
  20: { name: 'DEBUG', color: GREY },
  30: { name: 'INFO ', color: 36 },
  40: { name: 'WARN ', color: YELLOW },
  50: { name: 'ERROR', color: RED },
}

/**
 * A formatter that turns pino's JSON lines into lines for people: time, level, message, fields, and
 * an error's stack below. What is not such a line passes as it is.
 */
export const prettyFormat =
  ({ color }: { readonly color: boolean }) =>
  (jsonLine: string): string => {
    const entry = parse(jsonLine)
    if (!entry) return jsonLine
    const paint = painter(color)
    const { name, color: levelColor } = LEVELS[Number(entry['level'])] ?? { name: String(entry['level']), color: 0 }
    const fields = Object.entries(entry)
      .filter(([key, value]) => !HIDDEN.has(key) && !says(String(entry['msg']), value))
      .map(
        ([key, value]) => ` ${paint(GREY, `${key}=`)}${clip(typeof value === 'string' ? value : JSON.stringify(value), VALUE_WIDTH_MAX)}`,
      )
    return `${timeOf(entry['time'])} ${paint(levelColor, name)} ${oneLine(String(entry['msg']))}${fields.join('')}\n${stackOf(entry['err'])}`
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

function stackOf(err: unknown): string {
  const stack = typeof err === 'object' && err !== null && 'stack' in err ? String(err.stack) : undefined
  if (stack === undefined) return ''
  return stack
    .split('\n')
    .map((line) => `    ${oneLine(line.trim())}\n`)
    .join('')
}
