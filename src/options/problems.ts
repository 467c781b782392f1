import { didYouMean } from '../base/did-you-mean.ts'
import { QuiesceError, show } from '../base/errors.ts'
import { isNegativeDuration, OPTION_NAMES, type OptionName, optionRow } from './option-table.ts'

/** How what is wrong is said. */
export interface ProblemWording {
  /** How messages name an option; the command line names its flag. Default: the option's own name. */
  readonly label?: (name: OptionName) => string
  /** The user can only write text: messages do not offer numbers. */
  readonly asText?: boolean
}

/** One thing that is wrong with the options. */
export interface OptionProblem {
  readonly field: string
  readonly given: unknown
  readonly allowed: string
  readonly message: string
}

/** Collects everything that is wrong, so that the user repairs it in one go. */
export class Problems {
  readonly #problems: OptionProblem[] = []
  /** How messages name an option. */
  readonly label: (name: OptionName) => string
  readonly #asText: boolean

  constructor({ label = (name) => name, asText = false }: ProblemWording) {
    this.label = label
    this.#asText = asText
  }

  /** Checks every option by itself and returns those that are usable. */
  checkEach(options: object, names: readonly OptionName[]): Readonly<Record<string, unknown>> {
    if (typeof options !== 'object' || options === null || Array.isArray(options)) {
      this.#add('options', options, 'an object')
      return {}
    }
    const usable: Record<string, unknown> = {}
    for (const [name, given] of Object.entries(options)) {
      if (!(names as readonly string[]).includes(name)) {
        const allowed = (OPTION_NAMES as readonly string[]).includes(name) ? 'only for createServer' : `one of ${names.join(', ')}`
        const hint = didYouMean(name, names)
        this.#problems.push({
          field: name,
          given,
          allowed,
          message: hint ? `${name}: unknown option${hint}` : `${name}: unknown option, allowed: ${allowed}`,
        })
      } else if (given !== undefined) {
        const row = optionRow(name as OptionName)
        if (row.accepts(given)) usable[name] = given
        else this.addForOption(name as OptionName, given, (this.#asText && row.allowedAsText) || row.allowed)
      }
    }
    return usable
  }

  throwIfAny(): void {
    const [first] = this.#problems
    if (!first) return
    const message = this.#problems.map((problem) => problem.message).join('\n')
    throw new QuiesceError('ERR_OPTION_INVALID', message, {
      field: first.field,
      given: first.given,
      allowed: first.allowed,
      problems: this.#problems,
    })
  }

  /** One more, in the words in which the user wrote the option. */
  addForOption(name: OptionName, given: unknown, allowed: string): void {
    const { upstreamRefusal, remark } = optionRow(name)
    const upstreams = upstreamRefusal !== undefined && isNegativeDuration(given) ? ` (${upstreamRefusal})` : ''
    this.#add(this.label(name), given, allowed, `${upstreams}${remark?.(given) ?? ''}`)
  }

  #add(field: string, given: unknown, allowed: string, remark = ''): void {
    this.#problems.push({ field, given, allowed, message: `${field}: got ${show(given)}, allowed: ${allowed}${remark}` })
  }
}
