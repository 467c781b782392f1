import { badRequest } from '../../status-errors.ts'

/** Where the next page of a list begins. */
export interface ContinueToken {
  /** The version of the first page; undefined: the newest, as the first one's is gone. */
  readonly at: string | undefined
  readonly start: string
}

const VERSION = 'meta.k8s.io/v1'
const TOKEN_MAX = 2_048

/** @see kubernetes/apiserver pkg/storage/continue.go EncodeContinue */
export const encodeContinue = ({ at, start }: ContinueToken): string =>
  Buffer.from(JSON.stringify({ v: VERSION, rv: at === undefined ? -1 : Number(at), start })).toString('base64url')

/** @throws StatusError 400 for a token that is none */
export function decodeContinue(token: string): ContinueToken {
  const invalid = (why: string) => badRequest(`continue key is not valid: ${why}`)
  if (token.length > TOKEN_MAX) throw invalid('it is too long')
  let given: unknown
  try {
    given = JSON.parse(Buffer.from(token, 'base64url').toString())
  } catch {
    throw invalid('it is no token of this server')
  }
  const { v, rv, start } = (given ?? {}) as { readonly v?: unknown; readonly rv?: unknown; readonly start?: unknown }
  if (v !== VERSION || !Number.isSafeInteger(rv) || typeof start !== 'string' || start === '')
    throw invalid('it is no token of this server')
  return { at: (rv as number) < 0 ? undefined : String(rv), start }
}
