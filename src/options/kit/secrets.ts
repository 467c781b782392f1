import { show } from '../../base/errors.ts'
import { isFieldsOnly } from '../../base/records.ts'
import type { AnyOption, OptionTable } from './define.ts'

/** Says of a secret what helps to find the mistake in it, and no part of it. */
export function secretWords(given: unknown): string {
  if (typeof given === 'string')
    return given === '' ? 'an empty text' : `a text of ${given.length} character${given.length === 1 ? '' : 's'}`
  if (given instanceof Uint8Array) return `${given.length} bytes`
  if (Array.isArray(given)) return 'a list'
  // What is none of these holds no secret: undefined, null, true.
  return typeof given === 'object' && given !== null ? 'an object' : typeof given === 'number' ? 'a number' : show(given)
}

/** A value as messages show it. */
export const shownOf = (isSecret: boolean | undefined, given: unknown): string => (isSecret ? secretWords(given) : show(given))

/** A value that a row refuses, with words in the place of each secret. */
export function withoutSecrets(row: SecretRow | undefined, given: unknown): unknown {
  if (row?.secret) return given === undefined ? given : secretWords(given)
  const { fields, itemFields } = row ?? {}
  if (itemFields && Array.isArray(given)) return given.map((item) => withoutSecrets({ fields: itemFields }, item))
  if (!fields || !isFieldsOnly(given)) return given
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      // A field that there is not is a misspelt one.
      return [name, withoutSecrets(field ?? { secret: isAnySecretIn(fields) }, value)]
    }),
  )
}

/** What a row says of secrets in its values. */
export type SecretRow = Pick<AnyOption, 'secret' | 'fields' | 'itemFields'>

/**
 * The row at a place in a value, as `.sni[0].passphrase`; of a field that there is not, one that
 * may be secret.
 */
export function rowAt(row: SecretRow | undefined, path: string): SecretRow | undefined {
  const [, index, name, rest = ''] = /^(?:\[(\d+)\]|\.([\w$-]+))(.*)$/s.exec(path) ?? []
  if (row === undefined || path === '' || row.secret) return row
  if (index !== undefined) return rowAt(row.itemFields && { fields: row.itemFields }, rest)
  const { fields } = row
  if (!fields) return undefined
  const field = name !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined
  return field ? rowAt(field, rest) : { secret: isAnySecretIn(fields) }
}

const isAnySecretIn = (fields: OptionTable): boolean => Object.values(fields).some(({ secret }) => secret)
