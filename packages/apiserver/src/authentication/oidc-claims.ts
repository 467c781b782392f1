import { isRecord } from '../engine.ts'
import type { UserInfo } from './user.ts'

/** What the claims of an issuer's token have to say, and how they name a user. */
export interface OidcClaims {
  readonly issuerUrl: string
  readonly clientId: string
  readonly usernameClaim: string
  /** Undefined: the issuer and `#`, but for e-mail addresses; `-`: none. */
  readonly usernamePrefix: string | undefined
  readonly groupsClaim: string | undefined
  readonly groupsPrefix: string | undefined
  readonly requiredClaims: Readonly<Record<string, string>>
  readonly clockSkewMs: number
}

type Claims = Readonly<Record<string, unknown>>

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'
/**
 * How far ahead of our clock a token may begin. @see coreos/go-oidc verify.go
 * IDTokenVerifier.Verify
 */
const NOT_BEFORE_LEEWAY_MS = 60_000

/** @throws Error for a payload that is no JSON object */
export function claimsIn(payload: Uint8Array): Claims {
  let claims: unknown
  try {
    claims = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload))
  } catch {
    // What stands in it is not shown: it belongs to the token.
    throw new Error('the claims are not JSON')
  }
  if (!isRecord(claims)) throw new Error('the claims are not a JSON object')
  return claims
}

const claimOf = (claims: Claims, name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined)

/**
 * Whether a token whose signature is good is for this server, and for now.
 * @param wall milliseconds since the epoch
 * @throws Error that names the claim
 * @see coreos/go-oidc verify.go IDTokenVerifier.Verify
 */
export function checkClaims(claims: Claims, { issuerUrl, clientId, clockSkewMs }: OidcClaims, wall: number): void {
  if (claimOf(claims, 'iss') !== issuerUrl) throw new Error('claim iss names another issuer')
  const audience = claimOf(claims, 'aud')
  const audiences: readonly unknown[] = Array.isArray(audience) ? audience : [audience]
  if (!audiences.includes(clientId) || !audiences.every((each) => typeof each === 'string'))
    throw new Error('claim aud names another audience')
  const end = timeIn(claims, 'exp')
  if (end === undefined) throw new Error('claim exp is missing')
  if (wall > end + clockSkewMs) throw new Error('claim exp: the token has expired')
  // Null is as good as nothing there; of the others it is no time.
  const begin = claimOf(claims, 'nbf') === null ? undefined : timeIn(claims, 'nbf')
  if (begin !== undefined && wall + Math.max(NOT_BEFORE_LEEWAY_MS, clockSkewMs) < begin)
    throw new Error('claim nbf: the token is not valid yet')
  timeIn(claims, 'iat')
  for (const name of TEXTS) if (typeof (claimOf(claims, name) ?? '') !== 'string') throw new Error(`claim ${name} is not text`)
  checkSources(claims)
}

/** Claims that mean nothing here; upstream reads them as texts all the same. */
const TEXTS = ['sub', 'nonce', 'at_hash'] as const

const NUMBER = /^-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?$/

/** The first number of seconds that 64 bits cannot hold. */
const SECONDS_MAX = 2 ** 63

/**
 * Seconds since the epoch, as a number or a text of one; in milliseconds. Undefined: there is none.
 * @see coreos/go-oidc oidc.go jsonTime
 */
function timeIn(claims: Claims, name: string): number | undefined {
  const given = claimOf(claims, name)
  if (given === undefined) return undefined
  const seconds = typeof given === 'string' && NUMBER.test(given) ? Number(given) : given
  if (typeof seconds === 'number' && Math.abs(seconds) < SECONDS_MAX) return Math.trunc(seconds) * 1_000
  throw new Error(`claim ${name} is not a time`)
}

/** Claims that stand elsewhere have to say where. */
function checkSources(claims: Claims): void {
  const names = claimOf(claims, '_claim_names') ?? {}
  const sources = claimOf(claims, '_claim_sources') ?? {}
  const isWhole =
    isRecord(names) &&
    isRecord(sources) &&
    Object.values(sources).every(isRecord) &&
    Object.values(names).every((source) => typeof source === 'string' && source !== '' && Object.hasOwn(sources, source))
  if (!isWhole) throw new Error('claim _claim_names names a source that is not in _claim_sources')
}

/**
 * Who the claims of a token say that it is.
 * @throws Error for claims that are missing, of another kind, or that stand elsewhere
 * @see kubernetes/apiserver plugin/pkg/authenticator/token/oidc/oidc.go AuthenticateToken
 */
export function userIn(claims: Claims, settings: OidcClaims): UserInfo {
  const { issuerUrl, usernameClaim, groupsClaim, groupsPrefix = '', requiredClaims } = settings
  const { usernamePrefix = usernameClaim === 'email' ? '-' : `${issuerUrl}#` } = settings
  for (const [name, value] of Object.entries(requiredClaims))
    if (claimOf(claims, name) !== value) throw new Error(`required claim ${name} is missing, or has another value`)
  const name = claimOf(claims, usernameClaim)
  if (typeof name !== 'string' || name === '') throw new Error(`claim ${usernameClaim} is not a name`)
  if (usernameClaim === 'email' && Object.hasOwn(claims, 'email_verified') && claims['email_verified'] !== true)
    throw new Error('email not verified')
  const groups = groupsClaim === undefined ? [] : groupsIn(groupsClaim, claims)
  const { jti } = claims
  return {
    name: `${usernamePrefix === '-' ? '' : usernamePrefix}${name}`,
    groups: groups.map((group) => `${groupsPrefix}${group}`),
    extra: typeof jti === 'string' && jti !== '' ? { [CREDENTIAL_ID]: [`JTI=${jti}`] } : {},
  }
}

/** Some issuers write null for a user of no groups. */
function groupsIn(claim: string, claims: Claims): readonly string[] {
  const given = claimOf(claims, claim)
  const names = claimOf(claims, '_claim_names')
  if (given === undefined && Object.hasOwn(claims, '_claim_names') && !Object.hasOwn(claims, '_claim_sources'))
    throw new Error('claim _claim_names needs _claim_sources, which is missing')
  // A user without the groups that it has may be allowed what these are denied.
  if (given === undefined && isRecord(names) && Object.hasOwn(names, claim))
    throw new Error(`claim ${claim} has to be fetched from another server (_claim_names), which this server does not do`)
  const groups: readonly unknown[] = Array.isArray(given) ? given : given === undefined || given === null ? [] : [given]
  if (groups.every((group) => typeof group === 'string')) return groups
  throw new Error(`claim ${claim} is not a list of groups`)
}
