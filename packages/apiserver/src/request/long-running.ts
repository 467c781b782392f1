import { checkArguments, type RequestLike } from '../engine.ts'
import { type RequestInfo, requestInfo } from './request-info.ts'

export interface LongRunningSets {
  /** Verbs of {@link RequestInfo} that are long-running. */
  readonly verbs: Iterable<string>
  /** Subresources that are, under any verb. */
  readonly subresources: Iterable<string>
}

/** Profiles are taken for as long as the client asks. */
const PROFILES = '/debug/pprof/'

/**
 * Upstream's rule: by verb, by subresource, and `/debug/pprof/` always. kube-apiserver uses the
 * verbs `watch`, `proxy` and the subresources `attach`, `exec`, `proxy`, `log`, `portforward`.
 *
 * @see kubernetes/apiserver pkg/server/filters/longrunning.go BasicLongRunningRequestCheck
 */
export function longRunningRule({ verbs, subresources }: LongRunningSets): (info: RequestInfo) => boolean {
  const verbSet = new Set(verbs)
  const subresourceSet = new Set(subresources)
  return ({ verb, isResourceRequest, subresource, path }) => {
    if (verbSet.has(verb)) return true
    return isResourceRequest ? subresourceSet.has(subresource) : path.startsWith(PROFILES)
  }
}

/** The generic server's: watches. @see kubernetes/apiserver pkg/server/config.go NewConfig */
const watches = longRunningRule({ verbs: ['watch'], subresources: [] })

/**
 * The rule of the generic Kubernetes API server, for the option `longRunning` of servers that speak
 * its API: true for a watch (`/api/v1/pods?watch=1`, `/apis/apps/v1/watch/deployments`) and for
 * everything below `/debug/pprof/`, undefined for everything else, which is decided as without a
 * rule. It looks at method and URL alone, so a server whose own URLs happen to look like these
 * should not use it.
 * @throws QuiesceError ERR_OPTION_INVALID for what is no object
 * @see kubernetes/apiserver pkg/server/filters/longrunning.go BasicLongRunningRequestCheck
 * @example
 * createServer(app, { longRunning: kubernetesLongRunning })
 */
export function kubernetesLongRunning(request: Pick<RequestLike, 'method' | 'url'>): true | undefined {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    checkArguments('kubernetesLongRunning(request)', [request, 'an object'])
  const { method = 'GET', url = '/' } = request
  if (!url.startsWith('/api') && !url.startsWith(PROFILES) && url.startsWith('/')) return undefined
  // A watch has the word in its URL, as parameter or as segment; spares the many applications with
  // an /api/ of their own.
  if (!url.includes('watch') && !url.includes('%') && !url.includes(PROFILES)) return undefined
  return watches(requestInfo(method, url)) || undefined
}
