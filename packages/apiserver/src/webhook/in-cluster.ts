import { isIP } from 'node:net'
import { QuiesceError, variable } from '../engine.ts'
import type { Remote } from './remote.ts'

/** Where a pod finds what it is given to ask its API server. */
const FOLDER = '/var/run/secrets/kubernetes.io/serviceaccount'

/**
 * The API server of the cluster that this process is a pod of, by the token of its service account,
 * which is read again and again.
 * @throws QuiesceError ERR_OPTION_INVALID outside of a cluster
 * @see kubernetes/client-go rest/config.go InClusterConfig
 */
export function remoteOfCluster(env: NodeJS.ProcessEnv = process.env, folder = FOLDER): Remote {
  const host = variable(env, 'KUBERNETES_SERVICE_HOST') ?? ''
  const port = variable(env, 'KUBERNETES_SERVICE_PORT') ?? ''
  if (host === '' || port === '') {
    const allowed = 'a kubeconfig file, or in-cluster in a pod, where KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are set'
    throw new QuiesceError('ERR_OPTION_INVALID', `in-cluster: this process runs in no pod of a cluster, allowed: ${allowed}`, {
      field: 'in-cluster',
      allowed,
    })
  }
  const address = isIP(host) === 6 ? `[${host}]` : host
  return { url: `https://${address}:${port}`, ca: { file: `${folder}/ca.crt` }, token: { file: `${folder}/token` } }
}
