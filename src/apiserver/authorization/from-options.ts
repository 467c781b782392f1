import { allowedPaths } from './allowed-paths.ts'
import { alwaysAllow } from './always-allow.ts'
import { alwaysDeny } from './always-deny.ts'
import type { Authorizer } from './authorizer.ts'
import type { AuthorizationMode } from './options.ts'
import { privilegedGroups } from './privileged-groups.ts'
import { rbacFile } from './rbac/rbac-file.ts'
import { unionAuthorizer } from './union.ts'

export interface AuthorizationSettings {
  readonly authorizer: Authorizer | undefined
  readonly authorizationMode: readonly AuthorizationMode[] | undefined
  readonly authorizationAlwaysAllowGroups: readonly string[]
  readonly authorizationAlwaysAllowPaths: readonly string[]
  readonly authorizationRbacFile: string | undefined
}

/**
 * What decides about requests, by the options of a server; undefined when nothing is asked.
 * @see kubernetes/apiserver pkg/server/options/authorization.go toAuthorizer
 */
export function authorizerFrom(settings: AuthorizationSettings): Authorizer | undefined {
  const { authorizer, authorizationAlwaysAllowGroups, authorizationAlwaysAllowPaths, authorizationRbacFile } = settings
  const modes: readonly AuthorizationMode[] = settings.authorizationMode ?? (authorizationRbacFile === undefined ? [] : ['RBAC'])
  const deciding = [...(authorizer ? [authorizer] : []), ...modes.map((mode) => MODES[mode](settings))]
  if (deciding.length === 0) return undefined
  return unionAuthorizer(privilegedGroups(...authorizationAlwaysAllowGroups), allowedPaths(...authorizationAlwaysAllowPaths), ...deciding)
}

const MODES: Readonly<Record<AuthorizationMode, (settings: AuthorizationSettings) => Authorizer>> = {
  AlwaysAllow: alwaysAllow,
  AlwaysDeny: alwaysDeny,
  RBAC: ({ authorizationRbacFile }) => rbacFile(authorizationRbacFile as string),
}
