import { type LabelRequirement, labelRequirements } from '../selectors/label-requirements.ts'

/** Says whether labels are those that are asked for. */
export type LabelMatch = (labels: Readonly<Record<string, string>> | undefined) => boolean

/**
 * What a label selector selects.
 * @throws StatusError 400 for one that cannot be read
 */
export function labelSelector(text: string): LabelMatch {
  const requirements = labelRequirements(text)
  return (labels = {}) => requirements.every((each) => isMet(each, labels))
}

function isMet({ key, operator, values }: LabelRequirement, labels: Readonly<Record<string, string>>): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'exists':
      return value !== undefined
    case '!':
      return value === undefined
    case '!=':
    case 'notin':
      return value === undefined || !values.has(value)
    case 'gt':
    case 'lt': {
      const [bound = ''] = values
      if (value === undefined || !/^[+-]?\d{1,19}$/.test(value)) return false
      return operator === 'gt' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound)
    }
    default:
      return value !== undefined && values.has(value)
  }
}
