import type { Clock } from '../engine.ts'
import { anonymousAuthenticator } from './anonymous.ts'
import type { Authenticator, TokenAuthenticator } from './authenticator.ts'
import { bearerTokens, UNKNOWN_TOKENS } from './bearer-token.ts'
import type { ClientCas } from './client-cas.ts'
import { clientCertificateAuthenticator } from './client-certificate.ts'
import { frontProxyAuthenticator } from './front-proxy.ts'
import { withAuthenticatedGroup } from './group-adder.ts'
import { loopbackToken } from './loopback-token.ts'
import { OidcTokens } from './oidc.ts'
import type { Anonymous, ResolvedOidc } from './options.ts'
import { PeerTrust } from './peer-certificate.ts'
import type { ResolvedRequestHeader } from './request-header-options.ts'
import { tokenFile } from './token-file.ts'
import { unionAuthenticator, unionTokens } from './union.ts'
import type { ResolvedTokenWebhook } from './webhook-options.ts'
import { webhookTokensFrom } from './webhook-tokens.ts'
import { webSocketTokenAuthenticator } from './websocket-token.ts'

export interface AuthenticationSettings {
  readonly authenticators: readonly Authenticator[]
  readonly tokenAuthFile: string | undefined
  readonly oidc: ResolvedOidc | undefined
  readonly authenticationWebhook: ResolvedTokenWebhook | undefined
  readonly requestHeader: ResolvedRequestHeader | undefined
  /** Who the server is. */
  readonly apiAudiences: readonly string[]
  readonly anonymousAuth: Anonymous | undefined
  /** A listener asks its clients for certificates. */
  readonly hasClientCa: boolean
}

/** What an authenticator is made with. */
export interface AuthenticationParts {
  readonly clock: Clock
  /** The token of the server's own client. */
  readonly loopbackToken: string
  /** CAs beside those of the listeners. */
  readonly clientCas: ClientCas
  /** Whether something decides who may do what. */
  readonly isAuthorized: boolean
}

/** Whether a server asks who sends a request. */
export const authenticates = (settings: AuthenticationSettings): boolean =>
  settings.hasClientCa ||
  settings.tokenAuthFile !== undefined ||
  settings.oidc !== undefined ||
  settings.authenticationWebhook !== undefined ||
  settings.requestHeader !== undefined ||
  settings.authenticators.length > 0 ||
  settings.anonymousAuth !== undefined

/** The paths that are for everyone without authorization. */
const HEALTH_PATHS = ['/healthz', '/livez', '/readyz']

/**
 * How a server knows who sends a request, by its options: its own client first, then proxies in
 * front, certificates, tokens, and the user's own; a request for which none of them has thrown may
 * be anonymous.
 * @see kubernetes/kubernetes pkg/kubeapiserver/authenticator/config.go Config.New
 */
export function authenticatorFrom(settings: AuthenticationSettings, parts: AuthenticationParts): Authenticator {
  const {
    authenticators,
    tokenAuthFile,
    oidc,
    authenticationWebhook: webhook,
    anonymousAuth = parts.isAuthorized || { paths: HEALTH_PATHS },
  } = settings
  const tokens: readonly TokenAuthenticator[] = [
    ...(tokenAuthFile === undefined ? [] : [tokenFile(tokenAuthFile)]),
    ...(oidc === undefined ? [] : [new OidcTokens(oidc)]),
    ...(webhook === undefined ? [] : [webhookTokensFrom(webhook, settings.apiAudiences)]),
  ]
  const { clock, clientCas } = parts
  const wall = (): number => clock.wall()
  const trust = (): PeerTrust => new PeerTrust(clientCas.paths, wall)
  const { frontProxy } = clientCas
  const hasClientCa = settings.hasClientCa || clientCas.further?.client !== undefined
  const known = unionTokens(tokens)
  const named = unionAuthenticator([
    bearerTokens(loopbackToken(parts.loopbackToken)),
    ...(frontProxy ? [frontProxyAuthenticator({ ...frontProxy, trust: trust(), wall })] : []),
    ...(hasClientCa ? [clientCertificateAuthenticator(wall, trust())] : []),
    ...(tokens.length > 0 ? [bearerTokens(known), webSocketTokenAuthenticator(withoutLife(known))] : []),
    ...authenticators,
    UNKNOWN_TOKENS,
  ])
  if (anonymousAuth === false) return withAuthenticatedGroup(named)
  const anonymous = anonymousAuthenticator(anonymousAuth === true ? undefined : anonymousAuth.paths)
  return unionAuthenticator([withAuthenticatedGroup(named), anonymous], { failOnError: true })
}

/** The same tokens, opened once, although they are asked in two ways. */
const withoutLife = (tokens: TokenAuthenticator): TokenAuthenticator => ({
  authenticateToken: (token, context) => tokens.authenticateToken(token, context),
})
