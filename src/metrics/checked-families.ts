import { optionError } from '../base/errors.ts'
import { FAMILY_TYPES, isLabelName, isMetricName, METRIC_NAME_ALLOWED, type MetricFamily } from './family.ts'

/**
 * What a source has collected, family by family: those, and their samples, that can be printed. A
 * label that is no text would end the whole scrape, and a line break in a name would be a metric of
 * its own.
 * @param refused is told of every other family, and once of the other samples of a family
 * @throws QuiesceError ERR_OPTION_INVALID for what is no list
 */
export function checkedFamilies(collected: unknown, refused: (error: unknown) => void): readonly MetricFamily[] {
  if (!Array.isArray(collected)) throw optionError('what collect() returned', collected, 'a list of families')
  return collected.flatMap((family: unknown): MetricFamily[] => {
    const wrong = wrongIn(family)
    if (wrong) refused(wrong)
    return wrong ? [] : withUsableSamples(family as MetricFamily, refused)
  })
}

/** One sample that cannot be printed must not take the others of its metric with it. */
function withUsableSamples(family: MetricFamily, refused: (error: unknown) => void): MetricFamily[] {
  const { name, samples } = family
  const usable = samples.filter(isSample)
  if (usable.length === samples.length) return [family]
  const allowed = '{ labels, value, suffix?, createdAt? }: labels are texts by name, and both values numbers'
  const first: unknown = samples.find((sample) => !isSample(sample))
  refused(optionError(`samples of ${name}`, first, allowed))
  return usable.length === 0 ? [] : [{ ...family, samples: usable }]
}

function wrongIn(family: unknown): Error | undefined {
  const { name, help, type, samples } = fieldsOf(family)
  if (!isMetricName(name)) return optionError('name of a collected family', name, METRIC_NAME_ALLOWED)
  if (typeof help !== 'string') return optionError(`help of ${name}`, help, 'text')
  if (!FAMILY_TYPES.some((known) => known === type)) return optionError(`type of ${name}`, type, FAMILY_TYPES.join(', '))
  if (!Array.isArray(samples)) return optionError(`samples of ${name}`, samples, 'a list')
  return undefined
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
