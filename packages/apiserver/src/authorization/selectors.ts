import type { SelectorRequirement } from './authorizer.ts'

/**
 * The conditions of a field selector: `metadata.name=a,spec.nodeName!=b`. Undefined for one that
 * has none, or that cannot be read.
 * @see kubernetes/apimachinery pkg/fields/selector.go ParseSelector
 */
export function parseFieldSelector(text: string): readonly SelectorRequirement[] | undefined {
  const requirements: SelectorRequirement[] = []
  for (const term of termsOf(text)) {
    if (term === '') continue
    const [, key, operator, escaped] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? []
    const value = escaped === undefined ? undefined : unescaped(escaped)
    if (key === undefined || value === undefined) return undefined
    requirements.push({ key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] })
  }
  return requirements.length > 0 ? requirements : undefined
}

/** Split at the commas that no backslash stands before. */
const termsOf = (text: string): readonly string[] => text.match(/(?:\\.|[^\\,]|\\$)+/gs) ?? []

/** Commas, equals signs and backslashes of a value stand behind a backslash; nothing else does. */
const unescaped = (text: string): string | undefined => (/^(?:\\[\\,=]|[^\\,=])*$/s.test(text) ? text.replace(/\\(.)/gs, '$1') : undefined)

/** `app.example/name`; the part in front of the slash is a domain name. */
const KEY = String.raw`(?:[a-z\d](?:[-.a-z\d]*[a-z\d])?\/)?[A-Za-z\d](?:[-_.A-Za-z\d]*[A-Za-z\d])?`
const VALUE = String.raw`[A-Za-z\d](?:[-_.A-Za-z\d]*[A-Za-z\d])?`
/** No two runs of spaces stand beside each other, of which one could take what the other leaves. */
const TERM = new RegExp(
  [
    String.raw`^\s*(?:`,
    String.raw`!\s*(?<absent>${KEY})`,
    String.raw`|(?<key>${KEY})(?:\s*(?<equals>!=|==?)(?:\s*(?<value>${VALUE}))?|\s+(?<among>in|notin)\s*\((?<values>[^()]*)\))?`,
    String.raw`)\s*(?:,|$)`,
  ].join(''),
)
/** What stands between the commas of a list; it may be empty. */
const LISTED = new RegExp(`^(?:${VALUE})?$`)

/**
 * The conditions of a label selector: `app=a,tier in (x, y),!old`. Undefined for one that has none,
 * or that cannot be read, comparisons of numbers included.
 * @see kubernetes/apimachinery pkg/labels/selector.go Parse
 */
export function parseLabelSelector(text: string): readonly SelectorRequirement[] | undefined {
  const requirements: SelectorRequirement[] = []
  for (let rest = text.trim(); rest !== ''; ) {
    const found = TERM.exec(rest)
    const requirement = found?.groups && requirementOf(found.groups)
    if (!requirement) return undefined
    requirements.push(requirement)
    rest = rest.slice(found[0].length)
  }
  return requirements.length > 0 ? requirements : undefined
}

function requirementOf({ absent, key, equals, value, among, values }: Record<string, string | undefined>): SelectorRequirement | undefined {
  if (key === undefined) return { key: absent as string, operator: 'DoesNotExist', values: [] }
  if (equals !== undefined) return { key, operator: equals === '!=' ? 'NotIn' : 'In', values: [value ?? ''] }
  if (among === undefined) return { key, operator: 'Exists', values: [] }
  const list = (values as string).split(',').map((each) => each.trim())
  return list.every((each) => LISTED.test(each))
    ? { key, operator: among === 'in' ? 'In' : 'NotIn', values: [...new Set(list)].sort() }
    : undefined
}
