import { readFile, writeFile } from 'node:fs/promises'
import { checkArguments } from '../../base/arguments.ts'
import { A_FUNCTION, A_SWITCH, AN_OBJECT, checkOptions, type RulesOf } from '../../base/checked-options.ts'
import { QuiesceError } from '../../base/errors.ts'
import { variable } from '../../base/look.ts'
import { lineDiff } from './line-diff.ts'
import { commandsOf, formatScript, parseScript } from './script-file.ts'
import { type MakeLife, type ScriptCommand, ScriptRun } from './script-run.ts'

/** Set to anything but 0 and the empty text, it has scripts rewritten instead of compared. */
const UPDATE_VARIABLE = 'UPDATE_SCRIPTS'

export interface TraceScriptOptions {
  /**
   * Makes the life that the script is about. Default: a server whose paths do what their names say
   * (docs/testing.md).
   */
  readonly make?: MakeLife
  /** Commands beside the built-in ones, by name. */
  readonly commands?: Readonly<Record<string, ScriptCommand>>
  /**
   * Writes what happened into the file instead of comparing. Default: whether the environment has
   * UPDATE_SCRIPTS=1.
   */
  readonly update?: boolean
}

const OPTION_RULES: RulesOf<TraceScriptOptions> = { make: A_FUNCTION, commands: AN_OBJECT, update: A_SWITCH }

/**
 * Runs a script: a file of commands with what they lead to, in a world of its own. Resolves when it
 * happened as it is written.
 * @throws QuiesceError ERR_SCRIPT_MISMATCH with the difference by line, ERR_OPTION_INVALID for a
 * command that is none
 * @example
 * await traceScript('test/slow-hook.txt')
 */
export async function traceScript(file: string, options: TraceScriptOptions = {}): Promise<void> {
  checkArguments('traceScript(file, options?)', [file, 'a text'], [options, 'an object of options'])
  checkOptions('traceScript()', options, OPTION_RULES)
  const { make, commands, update = wantsUpdate() } = options
  const expected = await readFile(file, 'utf8')
  const blocks = parseScript(expected)
  const outputs: string[][] = []
  const run = new ScriptRun(make, commands)
  try {
    for (const block of blocks) {
      for (const command of commandsOf(block)) await run.run(command)
      outputs.push(run.takeOutput())
    }
  } catch (thrown) {
    if (thrown instanceof QuiesceError)
      throw new QuiesceError(thrown.code, `${file}: ${thrown.message}`, { ...thrown.details, file }, thrown)
    throw thrown
  } finally {
    await run.end()
  }
  const actual = formatScript(blocks, outputs)
  if (actual === expected) return
  if (update) return writeFile(file, actual)
  throw new QuiesceError(
    'ERR_SCRIPT_MISMATCH',
    `${file} what happened differs from the script (- written, + happened); ${UPDATE_VARIABLE}=1 rewrites the script:\n${lineDiff(expected, actual)}`,
    { file },
  )
}

const wantsUpdate = (): boolean => !['', '0', undefined].includes(variable(process.env, UPDATE_VARIABLE))
