import { dirname, resolve } from 'node:path'
import { readDocument } from '../encoding/read-yaml.ts'
import { isRecord, QuiesceError, show } from '../engine.ts'
import { readNamed } from '../named-file.ts'
import type { Remote, TextSource } from './remote.ts'

type Fields = Readonly<Record<string, unknown>>

/** Ways to authenticate that run a program, or that ask another server. */
const UNKNOWN_TO_US = ['exec', 'auth-provider', 'as', 'as-groups', 'as-user-extra', 'as-uid']

/**
 * The server of a kubeconfig file, YAML or JSON: that of its current context. File names in it
 * start from its own folder. What `kubectl` needs and this does not is passed over. Over plain HTTP
 * neither its token nor its password is sent, which all could read: upstream does so silently.
 * @throws QuiesceError ERR_OPTION_INVALID with a line for everything that cannot be used
 * @see kubernetes/client-go tools/clientcmd/api/v1/types.go Config
 */
export async function remoteOfKubeconfig(file: string): Promise<Remote> {
  const config = await readDocument(await readNamed(file), file)
  const problems: string[] = []
  const refuse = (field: string, given: unknown, allowed: string): undefined => {
    problems.push(`${file}: ${field}: got ${given === SECRET ? 'a secret value' : show(given)}, allowed: ${allowed}`)
    return undefined
  }
  const remote = isRecord(config) ? remoteOf(config, dirname(file), refuse) : refuse('the whole', config, 'an object with clusters')
  if (problems.length === 0) return remote as Remote
  throw new QuiesceError('ERR_OPTION_INVALID', problems.join('\n'), { field: file, given: file, allowed: 'a kubeconfig file', problems })
}

type Refuse = (field: string, given: unknown, allowed: string) => undefined

/** Stands for what must not come into a message, which is logged. */
const SECRET = Symbol('a secret')

function remoteOf(config: Fields, folder: string, refuse: Refuse): Remote | undefined {
  const found = named(config, 'contexts', 'context', config['current-context'], 'current-context', refuse)
  if (found === undefined) return undefined
  const { field, value: context } = found
  const cluster = named(config, 'clusters', 'cluster', context['cluster'], `${field}.cluster`, refuse)
  const hasUser = (context['user'] ?? '') !== ''
  const user = hasUser ? named(config, 'users', 'user', context['user'], `${field}.user`, refuse) : { field: '', value: {} as Fields }
  if (cluster === undefined || user === undefined) return undefined
  const remote = ofCluster(cluster, folder, refuse)
  const { token, basic, ...certificate } = ofUser(user, folder, refuse)
  return { ...remote, ...certificate, ...(remote.url.startsWith('https:') && { token, basic }) }
}

interface Found {
  /** How messages call it. */
  readonly field: string
  readonly value: Fields
}

/** `{ name, KIND: {…} }` of a list of these. */
function named(config: Fields, list: string, kind: string, name: unknown, askedBy: string, refuse: Refuse): Found | undefined {
  const all = config[list]
  const items = Array.isArray(all) ? all.filter(isRecord) : []
  const at = items.findIndex((item) => item['name'] === name && typeof name === 'string')
  const value = items[at]?.[kind]
  if (isRecord(value)) return { field: `${list}[${at}].${kind}`, value }
  if (at >= 0) return refuse(`${list}[${at}].${kind}`, value, 'an object')
  return refuse(askedBy, name, items.map((item) => show(item['name'])).join(', ') || `a name in ${list}, which is empty`)
}

function ofCluster({ field, value }: Found, folder: string, refuse: Refuse): Remote {
  const url = value['server']
  const isUrl = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  if (!isUrl) refuse(`${field}.server`, url, 'a URL of http or https')
  if (value['proxy-url']) refuse(`${field}.proxy-url`, value['proxy-url'], 'none')
  const text = (name: string) => textIn(value, name, field, refuse)
  return {
    url: isUrl ? withoutLastSlash(url) : '',
    ca: pem('certificate-authority', { field, value }, folder, refuse),
    serverName: text('tls-server-name'),
    insecure: value['insecure-skip-tls-verify'] === true,
  }
}

/**
 * A path of a server is a prefix to upstream, which is joined with none.
 * @see kubernetes/client-go rest/request.go NewRequest
 */
function withoutLastSlash(url: string): string {
  const parsed = new URL(url)
  parsed.pathname = parsed.pathname.replace(/\/+/g, '/').replace(/\/$/, '')
  return parsed.href
}

function ofUser({ field, value }: Found, folder: string, refuseAs: Refuse): Partial<Remote> {
  const refuse: Refuse = (name, given, allowed) => refuseAs(name, given === undefined ? undefined : SECRET, allowed)
  const text = (name: string) => textIn(value, name, field, refuse)
  for (const name of UNKNOWN_TO_US) if (value[name]) refuse(`${field}.${name}`, value[name], 'none: a token, a certificate or a password')
  const cert = pem('client-certificate', { field, value }, folder, refuse)
  const key = pem('client-key', { field, value }, folder, refuse)
  if ((cert === undefined) !== (key === undefined))
    refuse(`${field}.client-${cert ? 'key' : 'certificate'}`, undefined, `one beside client-${cert ? 'certificate' : 'key'}`)
  const tokenFile = text('tokenFile')
  const token = text('token')
  const username = text('username')
  return {
    cert,
    key,
    token: tokenFile !== undefined ? { file: resolve(folder, tokenFile) } : token !== undefined ? { text: token } : undefined,
    basic: username === undefined ? undefined : { username, password: text('password') ?? '' },
  }
}

function textIn(value: Fields, name: string, field: string, refuse: Refuse): string | undefined {
  const given = value[name] ?? ''
  if (typeof given !== 'string') return refuse(`${field}.${name}`, given, 'text')
  return given === '' ? undefined : given
}

/** `NAME-data`, in base64, comes before the file `NAME`. */
function pem(name: string, { field, value }: Found, folder: string, refuse: Refuse): TextSource | undefined {
  const data = textIn(value, `${name}-data`, field, refuse)
  if (data !== undefined) {
    const text = Buffer.from(data, 'base64').toString()
    return text.includes('-----BEGIN') ? { text } : refuse(`${field}.${name}-data`, data, 'PEM in base64')
  }
  const file = textIn(value, name, field, refuse)
  return file === undefined ? undefined : { file: resolve(folder, file) }
}
