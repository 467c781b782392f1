import type { CompletedConfig } from './config.ts'
import { type Clock, HEALTH_ENDPOINTS, type Health, type ServedLife } from './engine.ts'
import { DISCOVERY_TYPES } from './groups/discovery/pages.ts'
import type { GroupInstaller } from './groups/group-installer.ts'
import { OPENAPI_ROOT } from './groups/openapi/pages.ts'
import { OPENAPI_V2 } from './groups/openapi/v2-page.ts'
import { indexPage } from './mux/index-page.ts'
import { metricsPage } from './mux/metrics-page.ts'
import { plainNotFound } from './mux/not-found.ts'
import type { ApiHandler } from './mux/path-mux.ts'
import { profilesPage, toProfiles } from './mux/profiles.ts'
import { restRoute } from './mux/rest-route.ts'
import { statuszPage } from './mux/statusz.ts'
import { versionPage } from './mux/version.ts'

/** A path that a server has by itself. */
export interface BuiltInPath {
  readonly path: string
  readonly handler: ApiHandler
  /** Whether it stands for every path that begins so. */
  readonly isPrefix?: true
  /** The index does not name it. */
  readonly isListed?: false
}

type ListedPaths = () => readonly string[]

/**
 * The paths that are there from the beginning, so that a user's handler may take their place.
 * @see kubernetes/apiserver pkg/server/config.go installAPI
 */
export function firstPaths(config: CompletedConfig, groups: GroupInstaller, listedPaths: ListedPaths): readonly BuiltInPath[] {
  const index = indexPage(listedPaths)
  const version = versionPage(config.version)
  const apis = restRoute({ root: '/apis', produces: DISCOVERY_TYPES, get: groups.root })
  return [
    ...when(config.enableIndex, { path: '/', handler: index, isListed: false }, { path: '/index.html', handler: index, isListed: false }),
    { path: '/version', handler: version },
    { path: '/version/', handler: version, isPrefix: true, isListed: false },
    ...when(config.enableDiscovery, { path: '/apis', handler: apis }, { path: '/apis/', handler: apis, isListed: false }),
  ]
}

/** The paths that a server has from its first API group on. */
export const openApiPaths = (config: CompletedConfig, { openApi, openApiV2 }: GroupInstaller): readonly BuiltInPath[] =>
  when(
    config.enableOpenApi,
    { path: OPENAPI_V2, handler: openApiV2 },
    { path: OPENAPI_ROOT, handler: openApi },
    { path: `${OPENAPI_ROOT}/`, handler: openApi, isPrefix: true },
  )

/** What the last paths answer from. */
interface LastPathsParts {
  readonly clock: Clock
  readonly life: ServedLife
  readonly health: Health
  readonly listedPaths: ListedPaths
  /** Forgets what was counted; undefined where nothing is. */
  readonly forgetCounts: (() => void) | undefined
}

/**
 * The paths that are there when everything else is: they take the place of a user's handler.
 * @see kubernetes/apiserver pkg/server/genericapiserver.go PrepareRun
 */
export function lastPaths(
  config: CompletedConfig,
  { clock, life, health, listedPaths, forgetCounts }: LastPathsParts,
): readonly BuiltInPath[] {
  const { metricsEndpoint } = life
  const answer: ApiHandler = (request, response) => {
    if (!health.handle(request, response)) plainNotFound(request, response)
  }
  return [
    ...HEALTH_ENDPOINTS.flatMap((endpoint) => [`/${endpoint}`, ...health.checkNames(endpoint).map((check) => `/${endpoint}/${check}`)]).map(
      (path) => ({ path, handler: answer }),
    ),
    ...when(
      config.enableMetrics,
      { path: '/metrics', handler: metricsPage(metricsEndpoint, config.enableProfiling ? forgetCounts : undefined) },
      { path: '/metrics/slis', handler: metricsPage(metricsEndpoint) },
    ),
    ...when(
      config.enableProfiling,
      { path: '/debug/pprof', handler: toProfiles, isListed: false },
      { path: '/debug/pprof/', handler: profilesPage(clock), isPrefix: true, isListed: false },
    ),
    ...when(config.enableStatusz, { path: '/statusz', handler: statuszPage(clock, config.version['gitVersion'] ?? '', listedPaths) }),
  ]
}

const when = (isEnabled: boolean, ...paths: readonly BuiltInPath[]): readonly BuiltInPath[] => (isEnabled ? paths : [])
