import { didYouMean } from '../base/did-you-mean.ts'
import { show } from '../base/errors.ts'
import { PLACES, type PlacedStep } from '../http/chain.ts'
import type { Kind } from './define.ts'
import { isRecord, value } from './kinds.ts'

const ALLOWED = 'a list of { name, admit, over?, before?, after?, onAdmin? }'
const FUNCTION = 'a function of the exchange'

/** Each field of a step: what it may be, and whether it has to be there. */
const FIELDS: Readonly<Record<keyof PlacedStep, { readonly allowed: string; readonly isNeeded?: true; accepts(given: unknown): boolean }>> =
  {
    name: {
      allowed: `a text that is not empty, and no name of ours (${Object.keys(PLACES).join(', ')})`,
      isNeeded: true,
      accepts: (given) => typeof given === 'string' && given !== '' && !Object.hasOwn(PLACES, given),
    },
    admit: { allowed: `${FUNCTION} that returns true or false`, isNeeded: true, accepts: (given) => typeof given === 'function' },
    over: { allowed: FUNCTION, accepts: (given) => typeof given === 'function' },
    before: { allowed: 'the name of another step', accepts: (given) => typeof given === 'string' },
    after: { allowed: 'the name of another step', accepts: (given) => typeof given === 'string' },
    onAdmin: { allowed: 'true or false', accepts: (given) => typeof given === 'boolean' },
  }
const isField = (name: string): name is keyof PlacedStep => Object.hasOwn(FIELDS, name)

/** Where in the list the first mistake is, and what is allowed there; empty for none. */
function part(given: unknown): string {
  if (!Array.isArray(given)) return `: ${ALLOWED}`
  for (const [index, step] of given.entries()) {
    const wrong = isRecord(step) ? wrongField(step) : `: an object with name and admit`
    if (wrong !== undefined) return `[${index}]${wrong}`
  }
  return ''
}

function wrongField(step: Readonly<Record<string, unknown>>): string | undefined {
  const unknown = Object.keys(step).find((name) => !isField(name))
  if (unknown !== undefined) return `.${unknown}: no such field${didYouMean(unknown, Object.keys(FIELDS))}`
  for (const [name, { allowed, isNeeded, accepts }] of Object.entries(FIELDS)) {
    if (step[name] === undefined ? isNeeded : !accepts(step[name])) return `.${name}: got ${show(step[name])}, ${allowed}`
  }
  return step['before'] !== undefined && step['after'] !== undefined ? '.before: before or after, not both' : undefined
}

export const steps = (): Kind<readonly PlacedStep[], readonly PlacedStep[], 'value'> => ({
  ...value<readonly PlacedStep[]>(ALLOWED, (given) => part(given) === ''),
  part,
  remark: (given) => {
    const wrong = part(given)
    return wrong.startsWith('[') ? ` (${wrong})` : ''
  },
})
