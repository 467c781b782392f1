import { readFileSync } from 'node:fs'
import { QuiesceError, toError } from '../engine.ts'
import type { Authenticated, TokenAuthenticator } from './authenticator.ts'
import { UNREADABLE } from './bearer-token.ts'
import { knownUser } from './group-adder.ts'
import { fixed, type UserInfo } from './user.ts'

/**
 * Tokens that stand in a file, read once before the server listens: a line each of
 * `token,user,uid`, with the groups as a fourth column, `"a,b"`, where there are any.
 * @throws QuiesceError ERR_OPTION_INVALID, when it is opened, for a file that cannot be read, and a
 * line that says no user
 * @see kubernetes/apiserver pkg/authentication/token/tokenfile/tokenfile.go
 */
export function tokenFile(path: string): TokenAuthenticator {
  let users: ReadonlyMap<string, Authenticated> = new Map()
  return {
    authenticateToken: (token) => users.get(token),
    open: ({ warn }) => {
      users = new Map(Array.from(usersIn(read(path), path, warn), ([token, user]) => [token, { user: fixed(knownUser(user)) }]))
    },
  }
}

const wrong = (path: string, reason: string, cause?: unknown): QuiesceError =>
  new QuiesceError('ERR_OPTION_INVALID', `tokenAuthFile: ${path}: ${reason}`, { field: 'tokenAuthFile', given: path }, cause)

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (thrown) {
    throw wrong(path, `cannot be read (${toError(thrown).message})`, thrown)
  }
}

/** What is wrong with a line is said without what stands in it. */
export function usersIn(text: string, path: string, warn: (message: string) => void): ReadonlyMap<string, UserInfo> {
  const users = new Map<string, UserInfo>()
  for (const [index, record] of recordsIn(text, path).entries()) {
    const [token = '', name, uid, groups = ''] = record
    const where = `record ${index + 1}`
    if (name === undefined || uid === undefined)
      throw wrong(path, `${where} has ${record.length} columns, and needs token, user name and user uid`)
    if (token === '' || token.includes(UNREADABLE)) {
      warn(`${path}: ${where} has ${token === '' ? 'an empty token' : 'a token that is not UTF-8'}, and is left out`)
      continue
    }
    if (name === '') throw wrong(path, `${where} names no user`)
    if (users.has(token)) warn(`${path}: ${where} has the same token as an earlier one; the later one counts`)
    users.set(token, { name, ...(uid !== '' && { uid }), groups: groups === '' ? [] : groups.split(','), extra: {} })
  }
  return users
}

/** A field in quotes, with its quotes doubled, or a bare one; then what ends it. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

/** CSV as Go's encoding/csv reads it: empty lines are none. */
function recordsIn(text: string, path: string): readonly (readonly string[])[] {
  const records: string[][] = []
  let record: string[] = []
  FIELD.lastIndex = text.startsWith('\uFEFF') ? 1 : 0
  while (FIELD.lastIndex < text.length || record.length > 0) {
    const [, quoted, bare = '', end] = FIELD.exec(text) ?? []
    if (end === undefined) throw wrong(path, `record ${records.length + 1} has a quote inside a field, or a quote that is not closed`)
    record.push(quoted?.replaceAll('""', '"') ?? bare)
    if (end === ',') continue
    if (record.length > 1 || record[0] !== '') records.push(record)
    record = []
  }
  return records
}
