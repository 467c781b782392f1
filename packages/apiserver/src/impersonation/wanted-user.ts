import type { IncomingMessage } from 'node:http'
import { headerValues, namesOf, takeHeaders } from '../authentication/credential-headers.ts'
import { unescapedKey, utf8Of } from '../authentication/text-of-headers.ts'
import type { UserInfo } from '../authentication/user.ts'
import { goQuote } from '../engine.ts'

const USER = 'impersonate-user'
const UID = 'impersonate-uid'
const GROUP = 'impersonate-group'
const EXTRA = 'impersonate-extra-'

/** A user that a request asks to act as, as its headers say it. */
export type WantedUser = Required<UserInfo>

/** Whether a header is of impersonation; of nearly all requests none is. */
const isOfImpersonation = (name: string): boolean =>
  name.startsWith('impersonate-') && (name === USER || name === UID || name === GROUP || name.startsWith(EXTRA))

/**
 * The user that a request asks to act as; undefined: as the one that it is. The headers are taken
 * out of it. One that names no user, or several, is none (V42).
 * @throws Error with what its client is told
 * @see kubernetes/apiserver pkg/endpoints/filters/impersonation/constrained_impersonation.go
 * processImpersonationHeaders
 */
export function wantedUser(request: IncomingMessage): WantedUser | undefined {
  if (!namesOf(request).some(isOfImpersonation)) return undefined
  const wanted: WantedUser = {
    name: only(request, USER),
    uid: only(request, UID),
    groups: headerValues(request, GROUP).map(textOf),
    extra: extraOf(request),
  }
  if (wanted.name === '') throw new Error(`requested ${goSyntax(wanted)} without impersonating a user name`)
  takeHeaders(request, isOfImpersonation)
  return wanted
}

function only(request: IncomingMessage, name: string): string {
  const [value = '', ...others] = headerValues(request, name)
  if (others.length > 0) throw new Error(`more than one header ${name}`)
  return textOf(value)
}

function extraOf({ rawHeaders }: IncomingMessage): WantedUser['extra'] {
  const extra = new Map<string, string[]>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    if (!name.startsWith(EXTRA)) continue
    const key = textOf(unescapedKey(name.slice(EXTRA.length)))
    const value = textOf(rawHeaders[at + 1] as string)
    const values = extra.get(key)
    if (values) values.push(value)
    else extra.set(key, [value])
  }
  return Object.fromEntries(extra)
}

const textOf = (value: string): string => utf8Of(value, 'an impersonation header is not UTF-8')

/** The value of such a struct as Go prints it. */
function goSyntax({ name, uid, groups, extra }: WantedUser): string {
  const list = (texts: readonly string[]): string => (texts.length === 0 ? '[]string(nil)' : `[]string{${texts.map(goQuote).join(', ')}}`)
  const keys = Object.keys(extra).sort()
  const map = keys.length === 0 ? '(nil)' : `{${keys.map((key) => `${goQuote(key)}:${list(extra[key] as readonly string[])}`).join(', ')}}`
  return `&user.DefaultInfo{Name:${goQuote(name)}, UID:${goQuote(uid)}, Groups:${list(groups)}, Extra:map[string][]string${map}}`
}
