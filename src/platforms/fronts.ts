import type { PlatformDefaults } from './platform.ts'

/**
 * What sits in front of a server and sends it its requests: how long it goes on doing so after the
 * process was told to stop, and how long it keeps a connection that is idle. A connection that the
 * server closes first may be the one on which it sends its next request.
 */
export interface FrontSpec {
  readonly name: string
  /** What else it is called, in small letters. */
  readonly otherNames?: readonly string[]
  readonly where: string
  /**
   * How long it keeps idle connections to a server, as its documentation says; undefined: as its
   * clients do.
   */
  readonly idle?: string
  /** Whether that time cannot be changed. */
  readonly isFixed?: true
  readonly defaults: PlatformDefaults & { readonly keepAliveTimeout: string }
}

/**
 * Delays are the longest that were reported, from the removal of an endpoint to the last request;
 * deadlines leave what a platform with a delay of 5 s leaves.
 */
export const FRONTS = [
  {
    name: 'service',
    otherNames: ['kubernetes', 'k8s', 'kube-proxy', 'clusterip', 'nodeport'],
    where: 'a Kubernetes Service',
    defaults: { shutdownDelay: '5s', deadline: '25s', keepAliveTimeout: '75s' },
  },
  {
    name: 'alb',
    otherNames: ['aws-alb', 'elbv2', 'application-load-balancer'],
    where: 'an AWS Application Load Balancer',
    idle: '60s',
    defaults: { shutdownDelay: '70s', deadline: '90s', keepAliveTimeout: '75s' },
  },
  {
    name: 'nlb',
    otherNames: ['aws-nlb', 'network-load-balancer'],
    where: 'an AWS Network Load Balancer',
    idle: '350s',
    defaults: { shutdownDelay: '120s', deadline: '140s', keepAliveTimeout: '360s' },
  },
  {
    name: 'gclb',
    otherNames: ['gcp', 'google', 'glb', 'gcp-lb'],
    where: 'a Google Cloud Load Balancer',
    idle: '600s',
    isFixed: true,
    defaults: { shutdownDelay: '40s', deadline: '60s', keepAliveTimeout: '620s' },
  },
  {
    name: 'envoy',
    otherNames: ['istio', 'contour'],
    where: 'Envoy',
    idle: '1h',
    defaults: { shutdownDelay: '10s', deadline: '30s', keepAliveTimeout: '61m' },
  },
] as const satisfies readonly FrontSpec[]

export type FrontName = (typeof FRONTS)[number]['name']
export const FRONT_NAMES: readonly FrontName[] = FRONTS.map(({ name }) => name)
export const OTHER_FRONT_NAMES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  (FRONTS as readonly FrontSpec[]).map(({ name, otherNames = [] }) => [name, otherNames]),
)

/** The defaults of an option by what is in front. */
export const defaultsByFront = (option: 'shutdownDelay' | 'deadline' | 'keepAliveTimeout'): Readonly<Partial<Record<FrontName, string>>> =>
  Object.fromEntries(FRONTS.map(({ name, defaults }) => [name, defaults[option]]))
