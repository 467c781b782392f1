import { PLACES, type PlacedStep } from '../../http/chain.ts'
import type { Kind } from '../kit/define.ts'
import { isRecord, listOf } from '../kit/kinds.ts'
import { fieldPath, unknownField, type Wrong } from '../kit/wrong.ts'

const ALLOWED = 'a list of { name, admit, over?, before?, after?, onAdmin?, onPublic? }'
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
    onPublic: { allowed: 'true or false', accepts: (given) => typeof given === 'boolean' },
  }
const isField = (name: string): name is keyof PlacedStep => Object.hasOwn(FIELDS, name)

function wrongField(step: unknown): Wrong | undefined {
  if (!isRecord(step)) return { path: '', given: step, allowed: 'an object with name and admit' }
  const unknown = Object.keys(step).find((name) => !isField(name))
  if (unknown !== undefined) return unknownField(unknown, step[unknown], Object.keys(FIELDS))
  for (const [name, { allowed, isNeeded, accepts }] of Object.entries(FIELDS)) {
    const given = step[name]
    if (given === undefined ? isNeeded : !accepts(given)) return { path: fieldPath(name), given, allowed }
  }
  const { before, after } = step
  return before !== undefined && after !== undefined ? { path: '.before', given: before, allowed: 'before or after, not both' } : undefined
}

export const steps = (): Kind<readonly PlacedStep[], readonly PlacedStep[], 'value'> => listOf<PlacedStep>(ALLOWED, wrongField)
