import { readNamed } from '../named-file.ts'

/** A text, or the file that it is read from, again and again. */
export type TextSource = { readonly text: string } | { readonly file: string }

/** A server that something is posted to, and how it is reached. */
export interface Remote {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** What its certificate is checked with; default: what node trusts. PEM, as are the next two. */
  readonly ca?: TextSource | undefined
  /** The certificate that it is shown, with its key. */
  readonly cert?: TextSource | undefined
  readonly key?: TextSource | undefined
  /** Sent as `Authorization: Bearer`. */
  readonly token?: TextSource | undefined
  /** Sent as `Authorization: Basic`, where there is no token. */
  readonly basic?: { readonly username: string; readonly password: string } | undefined
  /** The name that its certificate has to have; default: that of the URL. */
  readonly serverName?: string | undefined
  /** Its certificate is not checked. */
  readonly insecure?: boolean | undefined
}

/** Where one is found: by itself, in a kubeconfig file, or as the cluster of a pod says. */
export type RemotePlace = Remote | { readonly kubeconfig: string } | { readonly inCluster: true }

/** A server as it is now: with all that stood in files. */
export interface LoadedRemote {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly tls: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly servername?: string
    readonly rejectUnauthorized?: false
  }
}

/**
 * Reads what stands in files.
 * @throws QuiesceError ERR_OPTION_INVALID for a file that cannot be read
 */
export async function loadRemote({ url, headers, token, basic, serverName, insecure, ...pems }: Remote): Promise<LoadedRemote> {
  const [ca, cert, key, bearer] = await Promise.all([pems.ca, pems.cert, pems.key, token].map(textOf))
  const credentials = bearer === undefined ? basic && `Basic ${base64(`${basic.username}:${basic.password}`)}` : `Bearer ${bearer.trim()}`
  return {
    url,
    headers: { ...(credentials !== undefined && { Authorization: credentials }), ...headers },
    tls: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(serverName !== undefined && { servername: serverName }),
      ...(insecure && { rejectUnauthorized: false }),
    },
  }
}

async function textOf(sourced: TextSource | undefined): Promise<string | undefined> {
  if (sourced === undefined || 'text' in sourced) return sourced?.text
  return readNamed(sourced.file)
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
