import { fieldTerms } from '../selectors/field-terms.ts'
import { type LabelRequirement, labelRequirements } from '../selectors/label-requirements.ts'
import { StatusError } from '../status-errors.ts'
import type { SelectorRequirement } from './authorizer.ts'

/**
 * The conditions of a field selector: `metadata.name=a,spec.nodeName!=b`. Undefined for one that
 * has none, or that cannot be read.
 * @see kubernetes/apiserver pkg/endpoints/filters/authorization.go GetAuthorizerAttributes
 */
export const parseFieldSelector = (text: string): readonly SelectorRequirement[] | undefined =>
  readable(() => fieldTerms(text).map(({ field, isEqual, value }) => ({ key: field, operator: isEqual ? 'In' : 'NotIn', values: [value] })))

/**
 * The conditions of a label selector: `app=a,tier in (x, y),!old`. Undefined for one that has none,
 * or that cannot be read, comparisons of numbers included.
 */
export const parseLabelSelector = (text: string): readonly SelectorRequirement[] | undefined =>
  readable(() => {
    const all = labelRequirements(text)
    const read = all.flatMap(({ key, operator, values }): readonly SelectorRequirement[] => {
      const known = OPERATORS[operator]
      return known === undefined ? [] : [{ key, operator: known, values: [...values].sort() }]
    })
    return read.length === all.length ? read : []
  })

const OPERATORS: Readonly<Record<LabelRequirement['operator'], SelectorRequirement['operator'] | undefined>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: undefined,
  lt: undefined,
}

/** What cannot be read is the handler's to refuse: who is not allowed learns nothing of it. */
function readable(read: () => readonly SelectorRequirement[]): readonly SelectorRequirement[] | undefined {
  try {
    const requirements = read()
    return requirements.length > 0 ? requirements : undefined
  } catch (thrown) {
    if (thrown instanceof StatusError) return undefined
    throw thrown
  }
}
