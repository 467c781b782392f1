import { optionError } from '../base/errors.ts'
import { FAMILY_TYPES, isLabelName, isMetricName, METRIC_NAME_ALLOWED, type MetricFamily } from './family.ts'

/**
 * What a source has collected, family by family: those that can be printed. A label that is no text
 * would end the whole scrape, and a line break in a name would be a metric of its own.
 * @param refused is told of every other one
 * @throws QuiesceError ERR_OPTION_INVALID for what is no list
 */
export function checkedFamilies(collected: unknown, refused: (error: unknown) => void): readonly MetricFamily[] {
  if (!Array.isArray(collected)) throw optionError('what collect() returned', collected, 'a list of families')
  return collected.filter((family: unknown): family is MetricFamily => {
    const wrong = wrongIn(family)
    if (wrong) refused(wrong)
    return wrong === undefined
  })
}

function wrongIn(family: unknown): Error | undefined {
  const { name, help, type, samples } = fieldsOf(family)
  if (!isMetricName(name)) return optionError('name of a collected family', name, METRIC_NAME_ALLOWED)
  if (typeof help !== 'string') return optionError(`help of ${name}`, help, 'text')
  if (!FAMILY_TYPES.some((known) => known === type)) return optionError(`type of ${name}`, type, FAMILY_TYPES.join(', '))
  if (!Array.isArray(samples)) return optionError(`samples of ${name}`, samples, 'a list')
  const wrongAt = samples.findIndex((sample) => !isSample(sample))
  if (wrongAt < 0) return undefined
  const allowed = '{ labels, value, suffix?, createdAt? }: labels are texts by name, and both values numbers'
  return optionError(`samples of ${name}`, samples[wrongAt], allowed)
}

function isSample(sample: unknown): boolean {
  const { labels, value, suffix = '', createdAt = 0 } = fieldsOf(sample)
  return (
    typeof labels === 'object' &&
    labels !== null &&
    Object.entries(labels).every(([name, text]) => isLabelName(name) && typeof text === 'string') &&
    [value, createdAt].every((number) => typeof number === 'number') &&
    typeof suffix === 'string' &&
    /^\w*$/.test(suffix)
  )
}

const fieldsOf = (given: unknown): Readonly<Record<string, unknown>> =>
  typeof given === 'object' && given !== null ? (given as Readonly<Record<string, unknown>>) : {}
