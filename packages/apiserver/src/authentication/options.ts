import {
  defineOptions,
  duration,
  fieldsNeeding,
  file,
  isFieldsOnly,
  isRecord,
  type Kind,
  listOf,
  type Needs,
  option,
  type ResolvedOf,
  text,
  type UserOptions,
  type Wrong,
  withCommas,
} from '../engine.ts'
import type { Authenticator } from './authenticator.ts'
import { REQUEST_HEADER } from './request-header-options.ts'
import { isHttps } from './trusted-fetch.ts'
import { AUTHENTICATION_WEBHOOK } from './webhook-options.ts'

const texts = (allowed: string, isOne: (item: string) => boolean = (item) => item !== '') =>
  withCommas(
    listOf<string>(`a list of ${allowed}`, (given) =>
      typeof given === 'string' && isOne(given) ? undefined : { path: '', given, allowed },
    ),
  )

/** @param placeholder what stands for it in help */
const named = (placeholder: string, what = 'a text', isAllowed?: (given: string) => boolean) => ({ ...text(what, isAllowed), placeholder })

const CLAIMS_ALLOWED = 'an object of claims and their required texts'

/** `claim=value`, as a flag that may be given several times. */
const claims = (): Kind<Readonly<Record<string, string>>, Readonly<Record<string, string>>, 'value'> => ({
  kind: 'value',
  allowed: CLAIMS_ALLOWED,
  allowedAsText: 'CLAIM=VALUE, with commas between them',
  placeholder: 'CLAIM=VALUE',
  joint: ',',
  accepts: (given) => isFieldsOnly(given) && Object.values(given).every((each) => typeof each === 'string'),
  fromText: (given) => {
    if (typeof given !== 'string') return given
    const pairs = given.split(',').map((pair) => /^([^=]+)=(.*)$/s.exec(pair))
    return pairs.every((pair) => pair !== null) ? Object.fromEntries(pairs.map(([, claim, value]) => [claim, value])) : undefined
  },
  resolve: (given) => given,
  show: (given) => Object.keys(given).join(', ') || 'none',
})

/** @see kubernetes/apiserver pkg/apis/apiserver AllValidSigningAlgorithms */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

const withFlag = (name: string) => ({ flag: name, upstream: `--${name}` }) as const

export const OIDC_OPTIONS = defineOptions({
  /** The issuer, as it stands in its tokens: a URL of https, below which its configuration is. */
  issuerUrl: option(named('URL', 'a URL of https', isHttps), {
    flag: 'oidc-issuer-url',
    upstream: '--oidc-issuer-url',
    defaultWords: 'none',
    meaning: 'URL of the OpenID Connect issuer whose tokens are accepted',
  }),
  /** The client that its tokens have to be for. */
  clientId: option(named('ID'), {
    ...withFlag('oidc-client-id'),
    defaultWords: 'none',
    meaning: 'Audience (client ID) that its tokens must have',
  }),
  /**
   * The claim that names the user.
   * @default sub
   */
  usernameClaim: option(named('CLAIM'), { ...withFlag('oidc-username-claim'), default: 'sub', meaning: 'Claim with the name of the user' }),
  /**
   * What is put in front of the name of a user; `-` is nothing.
   * @default the issuer and #, and nothing for the claim email
   */
  usernamePrefix: option(named('PREFIX'), {
    ...withFlag('oidc-username-prefix'),
    defaultWords: 'the URL of the issuer and #; none for the claim email',
    meaning: 'Prefix for the name of a user; - means none',
  }),
  /**
   * The claim that names the groups: a text, or a list of texts.
   * @default none
   */
  groupsClaim: option(named('CLAIM'), {
    ...withFlag('oidc-groups-claim'),
    defaultWords: 'none',
    meaning: 'Claim with the groups of the user',
  }),
  /**
   * Prefix of the name of a group.
   * @default none
   */
  groupsPrefix: option(named('PREFIX'), {
    ...withFlag('oidc-groups-prefix'),
    defaultWords: 'none',
    meaning: 'Prefix for the name of a group',
  }),
  /**
   * Claims that have to be there, with these texts.
   * @default none
   */
  requiredClaims: option(claims(), {
    ...withFlag('oidc-required-claim'),
    default: {},
    defaultWords: () => 'none',
    meaning: 'Claims that a token must have, as CLAIM=VALUE',
  }),
  /**
   * How its tokens may be signed.
   * @default RS256
   */
  signingAlgs: option(
    texts(`${ALGORITHMS.join(', ')}`, (item) => ALGORITHMS.includes(item)),
    { ...withFlag('oidc-signing-algs'), default: ['RS256'], meaning: 'Algorithms with which its tokens may be signed' },
  ),
  /**
   * The time by which the issuer's clock, or ours, may be wrong.
   * @default 10s
   */
  clockSkew: option(duration(), { default: '10s', meaning: "How far the issuer's clock may be off" }),
  /**
   * A file with the CA of the issuer's certificate.
   * @default none: the CAs of the system
   */
  caFile: option(file(), {
    ...withFlag('oidc-ca-file'),
    defaultWords: 'none: the CAs of the system',
    meaning: "File with the CA of the issuer's certificate",
  }),
  /**
   * A file with the issuer's keys, as a JSON Web Key Set, in place of those that it offers.
   * @default none
   */
  jwksFile: option(file(), { defaultWords: 'none', meaning: "File with the issuer's keys, so that they are not fetched from the issuer" }),
})

/** An issuer of tokens, and how users are read out of them. */
export interface OidcOptions extends UserOptions<typeof OIDC_OPTIONS> {
  readonly issuerUrl: string
  readonly clientId: string
}
export type ResolvedOidc = ResolvedOf<typeof OIDC_OPTIONS> & { readonly issuerUrl: string; readonly clientId: string }

/** Whether requests without credentials are let in, everywhere or for some paths. */
export type Anonymous = boolean | { readonly paths: readonly string[] }

const ANONYMOUS_ALLOWED = 'true, false, or { paths: [...] }'
const isPath = (given: unknown): boolean => typeof given === 'string' && given.startsWith('/')

const anonymous = (): Kind<Anonymous, Anonymous, 'value'> => ({
  kind: 'value',
  allowed: ANONYMOUS_ALLOWED,
  allowedAsText: 'true, false',
  accepts: (given) =>
    typeof given === 'boolean' ||
    (isRecord(given) && Object.keys(given).join() === 'paths' && Array.isArray(given['paths']) && given['paths'].every(isPath)),
  fromText: (given) => (given === 'true' ? true : given === 'false' ? false : given),
  resolve: (given) => given,
  show: (given) => (typeof given === 'boolean' ? String(given) : given.paths.join(', ')),
  switch: { on: true, off: false, bare: false },
})

const hasMethod = (given: unknown, name: string): boolean =>
  typeof (given as Record<string, unknown> | null | undefined)?.[name] === 'function'

const wrongAuthenticator = (given: unknown): Wrong | undefined =>
  hasMethod(given, 'authenticate') ? undefined : { path: '', given, allowed: 'an object with authenticate' }

/** A client CA of a listener is enough, too. */
const needsAuthentication: Needs = {
  anyOf: ['authenticators', 'tokenAuthFile', 'oidc', 'authenticationWebhook', 'requestHeader', 'tls'],
  otherwise: 'without effect',
  because: 'no option for credentials is given, so no request is authenticated',
}

/**
 * Who sends a request, and how that is known. Nothing is asked without any of `authenticators`,
 * `requestHeader`, `tokenAuthFile`, `oidc`, `authenticationWebhook`, `anonymousAuth` and a client
 * CA of a listener: a client CA has the users that its certificates name.
 * @see kubernetes/apiserver pkg/server/options/authentication.go
 */
export const AUTHENTICATION_OPTIONS = {
  /**
   * Authenticators of your own, asked after the others in their order.
   * @default none
   */
  authenticators: option(listOf<Authenticator>('a list of { authenticate, open?, close? }', wrongAuthenticator), {
    default: [],
    defaultWords: () => 'none',
    meaning: 'Your own authenticators, asked after the others',
    upstream: 'Config.Authentication.Authenticator',
  }),
  /**
   * A file of bearer tokens, a line each: `token,user,uid,"group,group"`. Read before the server
   * listens.
   * @default none
   */
  tokenAuthFile: option(file(), {
    flag: 'token-auth-file',
    defaultWords: 'none',
    meaning: 'File of bearer tokens, one in each line: token,user,uid,"group,group"',
    upstream: '--token-auth-file',
  }),
  /**
   * An OpenID Connect issuer whose tokens are accepted. Needs the package `jose`.
   * @default none
   */
  oidc: option(fieldsNeeding(OIDC_OPTIONS, ['issuerUrl', 'clientId'], { allowed: 'an object with issuerUrl and clientId' }), {
    defaultWords: 'none',
    meaning: 'OpenID Connect issuer whose tokens are accepted',
  }),
  /**
   * A server that is asked to whom a token belongs, with TokenReviews: one of your own, or a
   * kube-apiserver.
   * @default none
   */
  authenticationWebhook: option(AUTHENTICATION_WEBHOOK, {
    defaultWords: 'none',
    meaning: 'Server that is asked which user a token belongs to',
  }),
  /**
   * A proxy in front that has found out who sends a request, and says so in headers. It is known by
   * a certificate of a CA of its own; a listener has to have TLS.
   * @default none
   */
  requestHeader: option(REQUEST_HEADER, {
    defaultWords: 'none',
    meaning: 'Front proxy that names the user of a request in headers',
    needs: {
      anyOf: ['tls'],
      otherwise: 'refused',
      because: 'a front proxy is recognised by its certificate, which needs TLS',
      isMet: ({ tls, listeners }) =>
        tls !== undefined || (Array.isArray(listeners) && listeners.some((one) => isRecord(one) && one['tls'])),
    },
  }),
  /**
   * Whether requests without credentials are let in, as `system:anonymous`: everywhere, or for
   * exactly these paths.
   * @default true with authorization; otherwise for /healthz, /livez and /readyz only
   */
  anonymousAuth: option(anonymous(), {
    flag: 'anonymous-auth',
    defaultWords: 'true with authorization; otherwise for /healthz, /livez and /readyz only',
    meaning: 'Whether requests without credentials are let in',
    upstream: '--anonymous-auth',
  }),
  /**
   * Audiences of this server, for credentials that name the audience they are for.
   * @default none: credentials for any audience are accepted
   */
  apiAudiences: option(texts('texts'), {
    flag: 'api-audiences',
    default: [],
    defaultWords: () => 'none: credentials for any audience are accepted',
    meaning: 'Audiences of this server, compared with the audience that credentials name',
    needs: needsAuthentication,
    upstream: '--api-audiences',
  }),
  /**
   * Time in which authenticators have to know; after it the request is refused.
   * @default 10s
   */
  authenticationTimeout: option(duration('1ms'), {
    default: '10s',
    meaning: 'Time that all authenticators together have for a request',
    needs: needsAuthentication,
  }),
}
