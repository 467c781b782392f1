import type { ResolvedOf } from '../engine.ts'
import { allowedPaths } from './allowed-paths.ts'
import { alwaysAllow, alwaysDeny } from './always.ts'
import type { Authorizer } from './authorizer.ts'
import { type AUTHORIZATION_OPTIONS, type AuthorizationMode, NEEDED } from './options.ts'
import { privilegedGroups } from './privileged-groups.ts'
import { rbacFile } from './rbac/rbac-file.ts'
import { unionAuthorizer } from './union.ts'
import { webhookFrom } from './webhook.ts'
import type { ResolvedAuthorizationWebhook } from './webhook-options.ts'

type Settings = ResolvedOf<typeof AUTHORIZATION_OPTIONS>

/**
 * What decides about requests, by the options of a server; undefined when nothing is asked.
 * @see kubernetes/apiserver pkg/server/options/authorization.go toAuthorizer
 */
export function authorizerFrom(settings: Settings): Authorizer | undefined {
  const { authorizer, authorizationAlwaysAllowGroups, authorizationAlwaysAllowPaths } = settings
  const modes = settings.authorizationMode ?? configured(settings)
  const deciding = [...(authorizer ? [authorizer] : []), ...modes.map((mode) => MODES[mode](settings))]
  if (deciding.length === 0) return undefined
  return unionAuthorizer(privilegedGroups(...authorizationAlwaysAllowGroups), allowedPaths(...authorizationAlwaysAllowPaths), ...deciding)
}

const configured = (settings: Settings): readonly AuthorizationMode[] =>
  (Object.keys(NEEDED) as (keyof typeof NEEDED)[]).filter((mode) => settings[NEEDED[mode]] !== undefined)

/**
 * The authorizers of the modes; those that need an option have it: that was checked with the
 * others.
 */
const MODES: Readonly<Record<AuthorizationMode, (settings: Settings) => Authorizer>> = {
  AlwaysAllow: alwaysAllow,
  AlwaysDeny: alwaysDeny,
  RBAC: ({ authorizationRbacFile }) => rbacFile(authorizationRbacFile as string),
  Webhook: ({ authorizationWebhook }) => webhookFrom(authorizationWebhook as ResolvedAuthorizationWebhook),
}
