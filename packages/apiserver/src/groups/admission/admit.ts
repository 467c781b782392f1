import { AUDIT, addAuditAnnotation } from '../../audit/request-audit.ts'
import { toError } from '../../engine.ts'
import { qualifiedNameProblems } from '../../names.ts'
import { forbiddenObject, internalError, StatusError, shuttingDown } from '../../status-errors.ts'
import type { ApiObject } from '../api-object.ts'
import type { RestRequest } from '../rest/rest-request.ts'
import type { AdmissionOperation, AdmissionPlugin, AdmissionRequest, AdmissionTarget } from './plugin.ts'

/** How long one plugin is waited for, as upstream waits for a webhook that says nothing else. */
const PLUGIN_MS = 10_000

/** What is about to be written, and by which kind of write. */
export interface Admitted {
  readonly operation: AdmissionOperation
  readonly object: ApiObject | undefined
  readonly oldObject: ApiObject | undefined
  readonly isDryRun: boolean
}

/**
 * Has plugins change what is about to be written, each what those before it have made of it, and
 * says whether any was asked.
 * @throws StatusError of the first that refuses it
 */
export const mutateBy = (rest: RestRequest, admitted: Admitted): Promise<boolean> => askAll(rest, admitted, 'mutate')

/**
 * Has plugins look at what is about to be written.
 * @throws StatusError of the first that refuses it
 */
export const validateBy = (rest: RestRequest, admitted: Admitted): Promise<boolean> => askAll(rest, admitted, 'validate')

/** Whether any has to be asked. */
export const hasAdmission = (rest: RestRequest): boolean => rest.world.admission.length > 0

async function askAll(rest: RestRequest, admitted: Admitted, phase: 'mutate' | 'validate'): Promise<boolean> {
  const { group, version, kind, plural } = rest.resource
  const { subresource } = rest
  const target: AdmissionTarget = {
    operation: admitted.operation,
    kind: { group, version, kind },
    resource: { group, version, resource: plural },
    subresource,
  }
  const asked = rest.world.admission.filter((plugin) => plugin[phase] !== undefined && plugin.handles?.(target) !== false)
  for (const plugin of asked) await ask(rest, plugin, phase, requestOf(rest, target, admitted))
  return asked.length > 0
}

function requestOf(
  { exchange, world, key }: RestRequest,
  target: AdmissionTarget,
  { operation: _, ...admitted }: Admitted,
): AdmissionRequest {
  const { user, signal, request } = exchange
  return {
    ...target,
    ...admitted,
    namespace: key.namespace,
    name: (admitted.object ?? admitted.oldObject)?.metadata.name ?? key.name,
    user,
    signal,
    warn: (text) => world.warn(exchange, text),
    annotate: (annotation, value) => {
      const [problem] = qualifiedNameProblems(annotation)
      if (problem !== undefined) throw new Error(`the key of an audit annotation, ${JSON.stringify(annotation)}: ${problem}`)
      if (AUDIT.of(exchange) !== undefined) addAuditAnnotation(request, annotation, value)
    },
  }
}

async function ask(rest: RestRequest, plugin: AdmissionPlugin, phase: 'mutate' | 'validate', request: AdmissionRequest): Promise<void> {
  try {
    await inTime(rest, plugin.name, plugin[phase]?.(request))
  } catch (thrown) {
    if (thrown instanceof StatusError) throw thrown
    throw forbiddenObject(rest.qualified, request.name, toError(thrown).message)
  }
}

/** Waits for a plugin as long as it is waited for, and no longer than for the request. */
function inTime({ world: { clock }, exchange: { signal } }: RestRequest, name: string, answer: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(internalError(`failed calling admission plugin ${JSON.stringify(name)}: context deadline exceeded`))
    const gone = (): void => reject(shuttingDown())
    const timer = clock.setTimeout(late, PLUGIN_MS)
    signal.addEventListener('abort', gone, { once: true })
    Promise.resolve(answer)
      .then(() => resolve(), reject)
      .finally(() => {
        clock.clearTimeout(timer)
        signal.removeEventListener('abort', gone)
      })
    if (signal.aborted) gone()
  })
}
