import { ModelError } from '#model'
import { show } from '#src/base/errors.ts'
import { QuiesceError } from '#src/index.ts'

/** What a program may pass by mistake, one of each kind. */
export const WRONG: Readonly<Record<string, unknown>> = {
  undefined,
  null: null,
  number: 7,
  text: '\u0000 no such',
  boolean: true,
  function: () => {},
  list: [],
  object: { noSuchField: 1 },
  symbol: Symbol('wrong'),
}
const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'list' : typeof value === 'string' ? 'text' : typeof value

/**
 * By how a call is written. A name with `?` may be left out, `...` is a list, and `=` takes
 * anything.
 */
export function parse(call: string) {
  const [name = '', list = ''] = call.slice(0, -1).split('(')
  return { name, names: list === '' ? [] : list.split(', ') }
}

interface Call {
  readonly called: (...args: readonly unknown[]) => unknown
  readonly right: readonly unknown[]
}

/** The names of arguments whose fields are all known. */
const OF_OPTIONS = /^(?:options|definition|tuning|scope)$/

/**
 * Calls with one wrong argument after the other.
 * @param make what is called, and arguments that are right, or at least of the right kind; anew for
 * each call
 * @returns what was no error of ours that names the argument
 */
export async function faultsOf(written: string, make: () => Call | Promise<Call>): Promise<readonly string[]> {
  const faults: string[] = []
  for (const [at, name] of parse(written).names.entries()) {
    if (name.startsWith('=')) continue
    const argument = name.replace('...', '').replace('?', '')
    const mayBeMissing = name.endsWith('?') || name.startsWith('...')
    for (const kind of Object.keys(WRONG)) {
      const { called, right } = await make()
      if (kind === kindOf(right[at]) || (kind === 'undefined' && mayBeMissing)) continue
      const fault = await faultOf(() => called(...right.with(at, WRONG[kind])), argument, WRONG[kind])
      if (fault !== undefined) faults.push(`${argument}, ${kind}: ${fault}`)
    }
    if (!OF_OPTIONS.test(argument)) continue
    const { called, right } = await make()
    if (kindOf(right[at]) !== 'object') continue
    const given = { ...(right[at] as object), ...(WRONG['object'] as object) }
    const fault = await faultOf(() => called(...right.with(at, given)), 'noSuchField', given)
    if (fault !== undefined) faults.push(`${argument}, unknown field: ${fault}`)
  }
  return faults
}

/**
 * What came of it, in one line; undefined for an error of ours that names the argument, or says in
 * its own words of what it is that something else is allowed: `pre-shutdown hook "a": got 7`.
 */
async function faultOf(call: () => unknown, argument: string, given: unknown): Promise<string | undefined> {
  let taken: unknown
  try {
    taken = await call()
  } catch (thrown) {
    if (!(thrown instanceof QuiesceError || thrown instanceof ModelError)) return String(thrown)
    const { message } = thrown
    const isNamed =
      message.includes(argument) || message.includes(`got ${show(given)}, allowed: `) || message.startsWith('hook func may not be nil')
    return isNamed ? undefined : `does not name it: ${message}`
  }
  await (taken as Partial<AsyncDisposable> | undefined)?.[Symbol.asyncDispose]?.()
  return 'taken'
}
