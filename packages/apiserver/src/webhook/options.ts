import { file, isFieldsOnly, option, text, value, type Wrong } from '../engine.ts'
import type { RemotePlace } from './remote.ts'

const isUrl = (given: string): boolean => /^https?:$/.test(URL.canParse(given) ? new URL(given).protocol : '')
const PEM = 'PEM as text'
const isPem = (given: string): boolean => given.includes('-----BEGIN')

/**
 * How a server is reached that something is posted to: a kubeconfig file, or a URL and what belongs
 * to it.
 * @param flag of the file
 * @param what is posted, for documentation
 */
export const remoteOptions = <const Flag extends string>(flag: Flag, what: string) => ({
  /** A kubeconfig file, YAML or JSON; the server is that of its current context. */
  kubeconfig: option(file(), {
    flag,
    defaultWords: 'none',
    meaning: `Kubeconfig file of the server that ${what} are posted to`,
    upstream: `--${flag}`,
  }),
  /** The URL, in place of a kubeconfig. */
  url: option(text('a URL of http or https', isUrl), { defaultWords: 'none', meaning: `URL that ${what} are posted to` }),
  /** Sent with each, such as `Authorization`. */
  headers: option(
    value<Readonly<Record<string, string>>>(
      'an object of texts',
      (given) => isFieldsOnly(given) && Object.values(given).every((each) => typeof each === 'string'),
    ),
    { defaultWords: 'none', meaning: 'Headers of the posts', secret: true },
  ),
  /** Sent as `Authorization: Bearer`. */
  token: option(text('a text that is not empty'), { defaultWords: 'none', meaning: 'Bearer token for the server', secret: true }),
  /** What the server's certificate is checked with; without it what node trusts. */
  ca: option(text(PEM, isPem), { defaultWords: 'what node trusts', meaning: 'CAs of the server, as PEM' }),
  /** Shown to the server, with its key. */
  cert: option(text(PEM, isPem), { defaultWords: 'none', meaning: 'Client certificate for the server, as PEM' }),
  key: option(text(PEM, isPem), { defaultWords: 'none', meaning: 'Key of that certificate, as PEM', secret: true }),
})

/**
 * The word of a process in a pod for the API server of its cluster, by the pod's service account.
 */
export const IN_CLUSTER = 'in-cluster'

/**
 * A kube-apiserver in the place of a server of one's own: its paths are known.
 * @param flag of the file
 * @param what it is asked, for documentation
 */
export const apiServerOption = <const Flag extends string>(flag: Flag, what: string) =>
  option(file(`a kubeconfig file, or ${IN_CLUSTER}`, IN_CLUSTER), {
    flag,
    defaultWords: 'none',
    meaning: `Kubeconfig file of the kube-apiserver that is asked ${what}; ${IN_CLUSTER} means that of the pod`,
    upstream: `--${flag}`,
  })

/** A server, as its options say. */
export interface GivenRemote {
  readonly apiServer?: string | undefined
  readonly kubeconfig?: string | undefined
  readonly url?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly token?: string | undefined
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

export const REMOTE_ALLOWED = 'an object with kubeconfig or url'
export const API_SERVER_OR_REMOTE_ALLOWED = 'an object with apiServer, kubeconfig or url'

/** What these options mean for each other. */
export function wrongRemote(given: GivenRemote): Wrong | undefined {
  const { apiServer, kubeconfig, ...others } = given
  if (apiServer !== undefined) {
    const [name, value] = Object.entries(given).find(([each, one]) => OF_OTHERS.includes(each) && one !== undefined) ?? []
    return name === undefined ? undefined : { path: `.${name}`, given: value, allowed: 'none', beside: '.apiServer' }
  }
  if (kubeconfig === undefined && given.url === undefined)
    return { path: '.kubeconfig', given: undefined, allowed: 'a file name, or url', allowedAsText: 'a file name' }
  const [beside] = Object.entries(others).filter(([name, value]) => OF_URL.includes(name) && value !== undefined)
  if (kubeconfig !== undefined && beside !== undefined)
    return { path: `.${beside[0]}`, given: beside[1], allowed: 'none', beside: '.kubeconfig' }
  if ((given.cert === undefined) === (given.key === undefined)) return undefined
  return given.cert === undefined
    ? { path: '.cert', given: undefined, allowed: 'one', beside: '.key' }
    : { path: '.key', given: undefined, allowed: 'one', beside: '.cert' }
}

const OF_URL: readonly string[] = ['url', 'headers', 'token', 'ca', 'cert', 'key']
const OF_OTHERS: readonly string[] = ['kubeconfig', ...OF_URL]

export function remoteOf({ apiServer, kubeconfig, url, headers, token, ca, cert, key }: GivenRemote): RemotePlace {
  if (apiServer !== undefined) return apiServer === IN_CLUSTER ? { inCluster: true } : { kubeconfig: apiServer }
  if (kubeconfig !== undefined) return { kubeconfig }
  const sourced = (given: string | undefined) => (given === undefined ? undefined : { text: given })
  return { url: url as string, headers, token: sourced(token), ca: sourced(ca), cert: sourced(cert), key: sourced(key) }
}
