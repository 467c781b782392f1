/** A form in which an object can be sent. */
export interface Representation {
  readonly type: string
  /** Which other form of the object it is, as clients ask for one: `g=GROUP;v=VERSION;as=KIND`. */
  readonly as?: string
}

/**
 * What of the offered ones a client wants: that of the first clause of its `Accept`, by quality,
 * then by how much it says, then in its order, that names one. Without a header the first;
 * undefined when none will do. A clause that asks for another form of the object has no other.
 * @see kubernetes/apiserver pkg/endpoints/handlers/negotiation/negotiate.go
 */
export function negotiate<T extends Representation>(accept: string | undefined, offered: readonly T[]): T | undefined {
  if (accept === undefined || accept.trim() === '') return offered[0]
  for (const { range, as } of clausesOf(accept)) {
    const isRange = (type: string): boolean => range === '*/*' || range === type || range === `${type.split('/')[0]}/*`
    const chosen = offered.find((one) => one.as === as && isRange(one.type))
    if (chosen) return chosen
  }
  return undefined
}

interface Clause {
  readonly range: string
  readonly as: string | undefined
  readonly quality: number
}

/** What is wanted most first. */
function clausesOf(accept: string): readonly Clause[] {
  const clauses = accept.split(',').map((clause) => {
    const [range = '', ...given] = clause.split(';').map((piece) => piece.trim())
    const parameters = new Map(given.map((pair) => pair.split('=').map((piece) => piece.trim()) as [string, string]))
    const [g, v, as] = ['g', 'v', 'as'].map((name) => parameters.get(name))
    const quality = Number(parameters.get('q') ?? 1)
    return {
      range: range.toLowerCase(),
      as: as === undefined ? undefined : `g=${g};v=${v};as=${as}`,
      quality: Number.isNaN(quality) ? 1 : quality,
    }
  })
  return clauses.sort((a, b) => b.quality - a.quality || wildcards(a.range) - wildcards(b.range))
}

const wildcards = (range: string): number => range.split('*').length
