/** @see kubernetes/apimachinery pkg/util/validation/validation.go */
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const SUBDOMAIN = String.raw`${LABEL}(\.${LABEL})*`
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'
const VALUE = '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?'

const LABEL_MAX = 63
const SUBDOMAIN_MAX = 253

/** Whether each piece between the dots is a label; no expression has to look at the whole. */
const isSubdomain = (text: string): boolean => text.split('.').every((piece) => /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(piece))

const isQualified = (text: string): boolean => /^[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text)

const bytes = (text: string): number => Buffer.byteLength(text)

const tooLong = (max: number): string => `must be no more than ${max} bytes`

/** What is wrong with a name of most kinds of objects, a text for each. */
export function subdomainProblems(name: string): readonly string[] {
  const problems: string[] = []
  if (bytes(name) > SUBDOMAIN_MAX) problems.push(tooLong(SUBDOMAIN_MAX))
  if (!isSubdomain(name))
    problems.push(
      `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`,
    )
  return problems
}

/** The same for what is a single label, as the name of a namespace. */
export function labelProblems(name: string): readonly string[] {
  const problems: string[] = []
  if (bytes(name) > LABEL_MAX) problems.push(tooLong(LABEL_MAX))
  if (!/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/.test(name))
    problems.push(
      `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`,
    )
  return problems
}

/** The problems of the key of a label, an annotation or a finalizer: `example.com/name`. */
export function qualifiedNameProblems(key: string): readonly string[] {
  const parts = key.split('/')
  if (parts.length > 2)
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  const problems: string[] = []
  const name = parts.at(-1) as string
  if (parts.length === 2) {
    const prefix = parts[0] as string
    if (prefix === '') problems.push('prefix part must be non-empty')
    else problems.push(...subdomainProblems(prefix).map((problem) => `prefix part ${problem}`))
  }
  if (name === '') problems.push('name part must be non-empty')
  else if (bytes(name) > LABEL_MAX) problems.push(`name part ${tooLong(LABEL_MAX)}`)
  if (!isQualified(name))
    problems.push(
      `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`,
    )
  return problems
}

/** The problems of the value of a label, which may be empty. */
export function labelValueProblems(value: string): readonly string[] {
  const problems: string[] = []
  if (bytes(value) > LABEL_MAX) problems.push(tooLong(LABEL_MAX))
  if (value !== '' && !isQualified(value))
    problems.push(
      `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${VALUE}')`,
    )
  return problems
}

/** What follows a generated name's beginning: no vowels, so that no words come of it. */
const GENERATED = 'bcdfghjklmnpqrstvwxz2456789'
const GENERATED_LENGTH = 5

/** @see kubernetes/apiserver pkg/storage/names/generate.go */
export function generatedName(base: string, random: () => number): string {
  let name = base.slice(0, LABEL_MAX - GENERATED_LENGTH)
  for (let count = 0; count < GENERATED_LENGTH; count++) name += GENERATED[Math.floor(random() * GENERATED.length)]
  return name
}
