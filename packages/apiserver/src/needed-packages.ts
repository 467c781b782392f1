import { open, stat } from 'node:fs/promises'
import { QuiesceError } from '../../../src/base/errors.ts'
import type { CompletedConfig } from './config.ts'
import { isJson } from './encoding/read-yaml.ts'
import { IN_CLUSTER } from './webhook/options.ts'

/** Optional packages, and how each is loaded. */
const LOADERS = { yaml: (): Promise<unknown> => import('yaml'), jose: (): Promise<unknown> => import('jose') }

/**
 * Says of all optional packages that a configuration needs which are not installed, before anything
 * of it is opened: each part would name its own, one start after the other.
 * @throws QuiesceError ERR_DEPENDENCY_MISSING
 */
export async function assertPackages(config: CompletedConfig, loaders: Readonly<typeof LOADERS> = LOADERS): Promise<void> {
  const files = await Promise.all(filesOf(config).map(async (file) => ((await beginsAsYaml(file)) ? [file] : [])))
  const needed = { yaml: files.flat().map((file) => `reading ${file}`), jose: config.oidc ? ['tokens of OpenID Connect'] : [] }
  const missing = await Promise.all(
    (Object.keys(LOADERS) as (keyof typeof LOADERS)[]).map(async (name) => ({
      name,
      isMissing: needed[name].length > 0 && !(await loads(loaders[name])),
    })),
  )
  const names = missing.flatMap(({ name, isMissing }) => (isMissing ? [name] : []))
  if (names.length === 0) return
  const why = names.map((name) => `"${name}" for ${needed[name].join(' and ')}`).join(', ')
  const [of, is] = names.length === 1 ? ['package', 'is'] : ['packages', 'are']
  throw new QuiesceError('ERR_DEPENDENCY_MISSING', `the ${of} ${why} ${is} not installed: npm install ${names.join(' ')}`, {
    packages: names,
  })
}

const loads = (load: () => Promise<unknown>): Promise<boolean> =>
  load().then(
    () => true,
    () => false,
  )

/** Every file of the configuration that may be YAML. */
const filesOf = (config: CompletedConfig): readonly string[] =>
  [
    config.auditPolicyFile,
    config.auditWebhook?.kubeconfig,
    config.authorizationRbacFile,
    config.authorizationWebhook?.kubeconfig,
    config.authorizationWebhook?.apiServer,
    config.authenticationWebhook?.kubeconfig,
    config.authenticationWebhook?.apiServer,
  ].filter((file) => file !== undefined && file !== IN_CLUSTER) as readonly string[]

/** What cannot be read is left to who reads it, and so is a pipe, which can be read but once. */
async function beginsAsYaml(path: string): Promise<boolean> {
  try {
    if (!(await stat(path)).isFile()) return false
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(1_024), 0, 1_024, 0)
      return !isJson(buffer.toString('utf8', 0, bytesRead))
    } finally {
      await file.close()
    }
  } catch {
    return false
  }
}
