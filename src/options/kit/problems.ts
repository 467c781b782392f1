import { didYouMean, meant } from '../../base/did-you-mean.ts'
import { awaitHint, QuiesceError, show, toError } from '../../base/errors.ts'
import { ownFields } from '../../base/own-fields.ts'
import { isFieldsOnly } from '../../base/records.ts'
import { type AnyOption, lacks, type OptionTable, type Place } from './define.ts'
import { wrongsWith } from './kinds.ts'
import { rowAt, type SecretRow, secretWords, withoutSecrets } from './secrets.ts'
import { inBrackets, upstreamWords } from './upstream-words.ts'
import { allowedWords, type Wrong } from './wrong.ts'

/** How what is wrong is said. */
export interface ProblemWording {
  /**
   * How messages name an option; the command line names its flag. Default: the option's own name.
   */
  readonly label?: (name: string) => string
  /** The same for a field of an option, which the command line may have a flag for. */
  readonly labelOfField?: (path: string) => string | undefined
  /** The same for an option that was not given, and that only flags of its fields can give. */
  readonly labelOfMissing?: (name: string) => string | undefined
  /** Whether an option has the default of a command, which is none that its user has given. */
  readonly isOwnDefault?: (name: string) => boolean
  /** The user can only write text: messages do not offer numbers. */
  readonly asText?: boolean
  /** What is allowed instead of an option that belongs to another table, by its name. */
  readonly elsewhere?: (name: string) => string | undefined
}

/** What others call an option; their names are too far from ours to look misspelt. */
const NAMES_OF_OTHERS: Readonly<Record<string, string>> = { hostname: 'host' }

/** One thing that is wrong with the options. */
export interface OptionProblem {
  readonly field: string
  readonly given: unknown
  readonly allowed: string
  readonly message: string
}

/**
 * Collects everything that is wrong with the options of a table, so that the user repairs it in one
 * go.
 */
export class Problems {
  readonly #table: OptionTable
  readonly #wording: ProblemWording
  readonly #problems: OptionProblem[] = []

  constructor(table: OptionTable, wording: ProblemWording = {}) {
    this.#table = table
    this.#wording = wording
  }

  /** How messages name an option. */
  label(name: string): string {
    return this.#wording.label?.(name) ?? name
  }

  /** Checks every option by itself; those that are usable, copied, are what is to be read. */
  checkEach(options: unknown): Readonly<Record<string, unknown>> {
    if (!isFieldsOnly(options)) {
      this.#add('options', options, 'an object with fields of its own')
      return ownFields({})
    }
    const usable: Record<string, unknown> = ownFields({})
    for (const name of Object.keys(options)) {
      try {
        this.#check(name, options[name], usable)
      } catch (thrown) {
        // A getter, or a proxy, that throws when it is read.
        const [field, allowed] = [this.label(name), 'a value that can be read']
        const message = `${field}: cannot be read (${toError(thrown).message}), allowed: ${allowed}`
        this.#problems.push({ field, given: undefined, allowed, message })
      }
    }
    return usable
  }

  #check(name: string, given: unknown, usable: Record<string, unknown>): void {
    const row = this.#row(name)
    if (!row) this.#addUnknown(name, given)
    if (!row || given === undefined) return
    const copied = row.fields && isFieldsOnly(given) ? ownFields(given) : Array.isArray(given) ? ownFields({ given }).given : given
    if (row.accepts(copied)) usable[name] = copied
    else this.#addRefused(name, row, copied)
  }

  /**
   * Checks for every option that is given, and for its fields, whether what it needs is given, too.
   * @returns a sentence for each that has no effect
   */
  checkNeeds(given: Readonly<Record<string, unknown>>, places: readonly Place[] = []): readonly string[] {
    return this.#needsOf(this.#table, given, places, '')
  }

  #needsOf(table: OptionTable, given: Readonly<Record<string, unknown>>, places: readonly Place[], parent: string): readonly string[] {
    return Object.entries(given).flatMap(([name, value]) => {
      const row = Object.hasOwn(table, name) ? table[name] : undefined
      if (row === undefined || value === undefined) return []
      const inside = row.fields && isFieldsOnly(value) ? this.#needsOf(row.fields, value, places, `${name}.`) : []
      const { needs } = row
      if (!lacks(needs, value, given) || needs.at?.some((place) => places.includes(place)) === false) return inside
      const label = this.#labelAt(`${parent}${name}`)
      const others = this.#namesOf(needs.anyOf, table, parent)
      if (needs.otherwise === 'without effect') return [...inside, `${label} has no effect without ${others}: ${needs.because}`]
      const allowed = `only with ${others}: ${needs.because}`
      this.#add(label, value, allowed, '', row)
      return inside
    })
  }

  #labelAt(path: string): string {
    const { labelOfField, labelOfMissing, label } = this.#wording
    return (path.includes('.') ? labelOfField?.(path) : (labelOfMissing?.(path) ?? label?.(path))) ?? path
  }

  /**
   * The names of options; on the command line those that have no flag are left out, unless none
   * has.
   */
  #namesOf(names: readonly string[], table: OptionTable, parent: string): string {
    const withFlag = names.filter(
      (name) => table[name]?.flag !== undefined || Object.values(table[name]?.fields ?? {}).some(({ flag }) => flag),
    )
    const said = this.#wording.asText && withFlag.length > 0 ? withFlag : names
    const labels = said.map((name) => this.#labelAt(`${parent}${name}`))
    return labels.length > 1 ? `${labels.slice(0, -1).join(', ')} or ${labels.at(-1)}` : labels.join('')
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

  /** Adds a problem, in the words in which the user wrote the option. */
  addForOption(name: string, given: unknown, allowed: string): void {
    const row = this.#row(name)
    const missing = given === undefined ? this.#wording.labelOfMissing?.(name) : undefined
    const remark = row?.secret ? '' : row && `${upstreamWords(row, given)}${row.remark?.(given) ?? ''}`
    this.#add(missing ?? this.label(name), given, allowed, remark, row)
  }

  /** Adds a value that its row refuses: the parts of it that are wrong, if it has parts. */
  #addRefused(name: string, row: AnyOption, given: unknown): void {
    for (const wrong of wrongsWith(row, given)) this.#addWrong(name, row, wrong)
  }

  #addWrong(name: string, row: AnyOption, wrong: Wrong): void {
    if (wrong.path === '') {
      this.addForOption(name, wrong.given, (this.#wording.asText && row.allowedAsText) || row.allowed)
      return
    }
    // `admin-address in FILE` becomes `admin-address.port in FILE`.
    const path = `${name}${wrong.path}`
    const { labelOfField, asText = false } = this.#wording
    const field = labelOfField?.(path) ?? this.label(name).replace(/^\S+/, (own) => `${own}${wrong.path}`)
    const parent = path.replace(/\.[^.]*$/, '')
    const allowed = allowedWords(wrong, asText, (beside) => labelOfField?.(`${parent}${beside}`) ?? beside.slice(1))
    const { given, upstream } = wrong
    const at = rowAt(row, wrong.path)
    const words = wrong.words ?? `got ${this.#shown(given, at)}, allowed: ${allowed}${awaitHint(given)}`
    this.#push(field, given, allowed, `${field}: ${words}${inBrackets(upstream)}`, at)
  }

  #row(name: string): AnyOption | undefined {
    return Object.hasOwn(this.#table, name) ? this.#table[name] : undefined
  }

  #addUnknown(name: string, given: unknown): void {
    const names = Object.keys(this.#table)
    const ours = NAMES_OF_OTHERS[name]
    const elsewhere = this.#wording.elsewhere?.(name)
    const near = ours !== undefined && names.includes(ours) ? meant(ours) : didYouMean(name, names)
    // One that belongs elsewhere is not misspelt.
    const hint = elsewhere === undefined ? near : ''
    const allowed = elsewhere ?? `one of ${names.join(', ')}`
    const field = this.label(name)
    this.#problems.push({
      field,
      given,
      allowed,
      message: `${field}: unknown option${hint || `, allowed: ${allowed}`}`,
    })
  }

  #add(field: string, given: unknown, allowed: string, remark = '', row?: SecretRow): void {
    this.#push(field, given, allowed, `${field}: got ${this.#shown(given, row)}, allowed: ${allowed}${remark}${awaitHint(given)}`, row)
  }

  /** Errors are logged, with their details: none has a secret. */
  #push(field: string, given: unknown, allowed: string, message: string, row?: SecretRow): void {
    this.#problems.push({ field, given: withoutSecrets(row, given), allowed, message })
  }

  #shown(given: unknown, row?: SecretRow): string {
    // Nothing was written where only text can be.
    if (given === undefined && this.#wording.asText) return 'none'
    return row?.secret ? secretWords(given) : show(withoutSecrets(row, given))
  }
}
