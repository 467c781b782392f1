import { checkArguments, withFields } from '../engine.ts'
import type { AdmissionPlugin, AdmissionRequest } from '../groups/admission/plugin.ts'
import type { Storage } from '../groups/storage/storage.ts'
import { forbiddenObject, notFound, StatusError } from '../status-errors.ts'
import { NAMESPACES, type Namespace } from './namespace.ts'

/** Namespaces without which a server cannot do. */
const IMMORTAL: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

const A_STORAGE = withFields('the storage of NAMESPACES', 'get')

/**
 * The admission plugin `NamespaceLifecycle`: nothing is created in a namespace that is not there
 * (404), or that is being deleted (403, with the cause `NamespaceTerminating`), and `default`,
 * `kube-system` and `kube-public` are not deleted (403). The namespace is read from its storage for
 * each object that is created in one.
 * @throws QuiesceError ERR_OPTION_INVALID
 * @see kubernetes/apiserver pkg/admission/plugin/namespace/lifecycle/admission.go
 * @example
 * const namespaces = storageOver(store, NAMESPACES)
 * completeConfig({ admission: [namespaceLifecycle(namespaces)] })
 */
export function namespaceLifecycle(namespaces: Pick<Storage, 'get'>): AdmissionPlugin {
  checkArguments('namespaceLifecycle(namespaces)', [namespaces, A_STORAGE])
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation }) => operation !== 'UPDATE',
    mutate: (request) => (request.operation === 'DELETE' ? refuseDeletion(request) : refuseCreation(request, namespaces)),
  }
}

const OF_NAMESPACES = { group: '', resource: NAMESPACES.plural }

const isNamespace = ({ kind: { group, kind } }: AdmissionRequest): boolean => group === '' && kind === NAMESPACES.kind

function refuseDeletion(request: AdmissionRequest): void {
  if (isNamespace(request) && IMMORTAL.has(request.name))
    throw forbiddenObject(OF_NAMESPACES, request.name, 'this namespace may not be deleted')
}

async function refuseCreation(request: AdmissionRequest, storage: Pick<Storage, 'get'>): Promise<void> {
  const { namespace: name, resource } = request
  if (name === '' || isNamespace(request)) return
  const found = (await storage.get?.({ namespace: '', name })) as Namespace | undefined
  if (found === undefined) throw notFound(OF_NAMESPACES, name)
  if (found.status?.phase !== 'Terminating') return
  const { failure } = forbiddenObject(
    resource,
    nameOf(request),
    `unable to create new content in namespace ${name} because it is being terminated`,
  )
  const cause = { reason: 'NamespaceTerminating', message: `namespace ${name} is being terminated`, field: 'metadata.namespace' }
  throw new StatusError({ ...failure, details: { ...failure.details, causes: [cause] } })
}

/** @see kubernetes/apiserver pkg/admission/errors.go extractResourceName */
const nameOf = ({ name, object }: AdmissionRequest): string => name || object?.metadata.generateName || 'Unknown'
