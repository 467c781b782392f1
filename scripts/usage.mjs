// @ts-check
// What scripts and benchmarks are given: one line and exit code 2 for what they cannot use, as the
// command `quiesce` has it, instead of a stack, or of a run of NaN rounds that passes.
import { basename } from 'node:path'
import { parseArgs } from 'node:util'

/**
 * `parseArgs` of node, whose refusals say what is allowed.
 * @template {import('node:util').ParseArgsConfig} Config
 * @param {Config} config
 * @returns {ReturnType<typeof parseArgs<Config>>}
 */
export function givenArguments(config) {
  try {
    return parseArgs(config)
  } catch (thrown) {
    const [what] = String(/** @type {Error} */ (thrown).message).split(/\.\s/)
    return refuseUsage(
      `${what}, allowed: ${
        Object.keys(config.options ?? {})
          .map((name) => `--${name}`)
          .join(', ') || 'none'
      }`,
    )
  }
}

/**
 * @param {string} label what it is called on the command line
 * @param {string} given
 * @param {number} [least]
 */
export function wholeNumber(label, given, least = 0) {
  if (/^\d{1,15}$/.test(given) && Number(given) >= least) return Number(given)
  return refuseUsage(`${label}: got ${JSON.stringify(given)}, allowed: a whole number${least > 0 ? ` from ${least}` : ''}`)
}

/** @param {string} problem @returns {never} */
export function refuseUsage(problem) {
  process.stderr.write(`${basename(process.argv[1] ?? '')}: ${problem}\n`)
  process.exit(2)
}
