import { caProvider, type FurtherCas } from '../engine.ts'
import type { AuthenticatorWorld } from './authenticator.ts'
import { ClusterCas } from './cluster-cas.ts'
import { type FrontProxy, headersOf } from './front-proxy.ts'
import type { ResolvedRequestHeader } from './request-header-options.ts'
import { TrustPaths } from './trust-paths.ts'
import type { ResolvedTokenWebhook } from './webhook-options.ts'

/** The CAs that certificates may lead to beside those of the listeners. */
export interface ClientCas {
  /** The CAs for the listeners; undefined: there are none. */
  readonly further: FurtherCas | undefined
  readonly frontProxy: FrontProxy | undefined
  readonly paths: TrustPaths
  /** Opens them before the listeners; a rejection is a failed start. */
  open(world: AuthenticatorWorld): Promise<void>
  close(): void
}

interface Settings {
  readonly requestHeader: ResolvedRequestHeader | undefined
  readonly authenticationWebhook: ResolvedTokenWebhook | undefined
  /** A listener has a client CA of its own. */
  readonly hasClientCa: boolean
  readonly hasTls: boolean
}

/** What is asked for is what is not said: as upstream does. */
export function clientCasFrom({ requestHeader, authenticationWebhook: webhook, hasClientCa, hasTls }: Settings): ClientCas {
  const isLookedUp = hasTls && webhook?.apiServer !== undefined && !webhook.skipLookup && !(requestHeader && hasClientCa)
  const cluster = isLookedUp ? new ClusterCas(webhook) : undefined
  const given = requestHeader && frontProxyOf(requestHeader)
  const frontProxyCa = given?.provider ?? cluster?.frontProxyCa
  const clientCa = hasClientCa ? undefined : cluster?.clientCa
  return {
    further: frontProxyCa || clientCa ? { client: clientCa, frontProxy: frontProxyCa } : undefined,
    frontProxy: given?.frontProxy ?? cluster?.frontProxy,
    paths: new TrustPaths(),
    open: async (world) => cluster?.open(world),
    close: () => cluster?.close(),
  }
}

function frontProxyOf(given: ResolvedRequestHeader) {
  const provider = caProvider('requestHeader.clientCa', given.clientCa, given.clientCaFile)
  const headers = headersOf(given)
  return { provider, frontProxy: { ca: () => provider.current, headers: () => headers, allowedNames: () => given.allowedNames } }
}
