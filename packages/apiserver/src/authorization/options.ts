import { file, isRecord, list, listOf, type Needs, option, type Problems, value, withCommas } from '../engine.ts'
import { isAllowedPath, isPathPattern, PATHS_ALLOWED } from './allowed-paths.ts'
import type { Authorizer } from './authorizer.ts'
import { AUTHORIZATION_WEBHOOK, type AuthorizationWebhookOptions } from './webhook-options.ts'

/** What decides, beside the groups and paths that are always allowed. */
export const AUTHORIZATION_MODES = ['AlwaysAllow', 'AlwaysDeny', 'RBAC', 'Webhook'] as const
export type AuthorizationMode = (typeof AUTHORIZATION_MODES)[number]

const DECIDERS = ['authorizer', 'authorizationMode', 'authorizationRbacFile', 'authorizationWebhook'] as const

/** The need of options that have no effect where everything is allowed. */
const needsAuthorization = { anyOf: DECIDERS, otherwise: 'without effect', because: 'everything is allowed' } as const

/**
 * The need of what must not be for everyone. A mode that allows everything decides nothing, nor is
 * anything decided about a path that is always allowed.
 */
export const needsAuthorizationOf = (path: string, because: string): Needs => ({
  anyOf: DECIDERS,
  otherwise: 'refused',
  because,
  isMet: (beside) => {
    const { authorizationMode: modes, authorizationAlwaysAllowPaths: open } = beside
    const isAlwaysAllowed = Array.isArray(open) && isAllowedPath(open as readonly string[], path)
    return (
      DECIDERS.some((name) => beside[name] !== undefined) && !(Array.isArray(modes) && modes.includes('AlwaysAllow')) && !isAlwaysAllowed
    )
  },
})

const SLOT = 'an object with authorize(attributes, context)'

/**
 * Who may do what. Everything is allowed without any of `authorizer`, `authorizationMode`,
 * `authorizationRbacFile`, `authorizationWebhook`.
 * @see kubernetes/apiserver pkg/server/options/authorization.go DelegatingAuthorizationOptions
 */
export const AUTHORIZATION_OPTIONS = {
  /**
   * An authorizer of your own, asked before those of `authorizationMode`.
   * @default none
   */
  authorizer: option(
    value<Authorizer>(SLOT, (given) => isRecord(given) && typeof given['authorize'] === 'function'),
    { defaultWords: 'none', meaning: 'Your own authorizer', upstream: 'Config.Authorization.Authorizer' },
  ),
  /**
   * What is asked, in this order: the first that allows or denies has decided.
   * @default those that are configured, RBAC before Webhook
   */
  authorizationMode: option(list(AUTHORIZATION_MODES), {
    flag: 'authorization-mode',
    defaultWords: 'those that are configured, RBAC before Webhook',
    meaning: 'Authorizers that decide about requests, in the order in which they are asked',
    upstream: '--authorization-mode',
  }),
  /**
   * Groups whose users may do everything.
   * @default system:masters
   */
  authorizationAlwaysAllowGroups: option(
    listOf<string>('a list of groups', (item) => (typeof item === 'string' ? undefined : { path: '', given: item, allowed: 'text' })),
    {
      default: ['system:masters'],
      meaning: 'Groups whose users are allowed everything',
      upstream: 'AlwaysAllowGroups',
      needs: needsAuthorization,
    },
  ),
  /**
   * Paths that everyone may ask for, resources apart; one that ends in `*` stands for all that
   * begin so.
   * @default /healthz, /readyz, /livez
   */
  authorizationAlwaysAllowPaths: option(
    withCommas(
      listOf<string>(PATHS_ALLOWED, (item) => (isPathPattern(item) ? undefined : { path: '', given: item, allowed: PATHS_ALLOWED })),
    ),
    {
      flag: 'authorization-always-allow-paths',
      default: ['/healthz', '/readyz', '/livez'],
      meaning: 'Paths that are allowed for everyone; a path may end with *',
      upstream: '--authorization-always-allow-paths',
      needs: needsAuthorization,
    },
  ),
  /**
   * Roles and bindings as a file, YAML or JSON, in the shape of Kubernetes' own. It is read before
   * the server listens, which fails when it cannot be used, and again whenever it changes.
   * @default none
   */
  authorizationRbacFile: option(file(), {
    flag: 'authorization-rbac-file',
    defaultWords: 'none',
    meaning: 'File with roles and their bindings',
  }),
  /**
   * A server that is asked with SubjectAccessReviews.
   * @default none
   */
  authorizationWebhook: option(AUTHORIZATION_WEBHOOK, {
    defaultWords: 'none',
    meaning: 'Server that decides about requests, by SubjectAccessReviews',
  }),
}

interface Given {
  readonly authorizationMode?: readonly AuthorizationMode[] | undefined
  readonly authorizationRbacFile?: string | undefined
  readonly authorizationWebhook?: AuthorizationWebhookOptions | undefined
}

/** Which option a mode needs; in the order in which they are asked unless the user says another. */
export const NEEDED = { RBAC: 'authorizationRbacFile', Webhook: 'authorizationWebhook' } as const satisfies Partial<
  Record<AuthorizationMode, keyof Given>
>

/** What the options of authorization mean for each other. */
export function checkAuthorization(given: Given, problems: Problems): void {
  const { authorizationMode: modes } = given
  if (modes === undefined) return
  if (new Set(modes).size < modes.length) problems.addForOption('authorizationMode', modes, 'each mode once')
  for (const [mode, option] of Object.entries(NEEDED)) {
    const isAsked = modes.includes(mode as AuthorizationMode)
    if (isAsked && given[option] === undefined)
      problems.addForOption(option, undefined, `one beside ${problems.label('authorizationMode')} ${mode}`)
    if (!isAsked && given[option] !== undefined)
      problems.addForOption(option, given[option], `none without ${problems.label('authorizationMode')} ${mode}`)
  }
}
