import { auditRequestObject } from '../../audit/request-audit.ts'
import { goQuote } from '../../engine.ts'
import { badRequest } from '../../status-errors.ts'
import { type Fields, isFields } from '../api-object.ts'
import type { Propagation } from '../deletion-finalizers.ts'
import { type FieldError, fieldErrors } from '../field-errors.ts'
import { DELETE_OPTIONS, PROTOBUF_TYPE, readProtobufObject } from '../protobuf/object.ts'
import { readValue } from './decode.ts'
import { dryRunErrors, flag, refuseOptions, wholeNumber } from './options.ts'
import { contentTypeOf, isYaml, readBody, readBytes } from './read-body.ts'
import type { RestRequest } from './rest-request.ts'

/** The part of DeleteOptions that changes what is done. */
export interface DeleteOptions extends Propagation {
  readonly isDryRun: boolean
  readonly uid: string | undefined
  readonly resourceVersion: string | undefined
}

const POLICIES: ReadonlySet<unknown> = new Set(['Foreground', 'Background', 'Orphan'])

/** The options from the body, or from the query where there is none. */
export async function deleteOptions(rest: RestRequest): Promise<DeleteOptions> {
  const sent = await readOptions(rest)
  const given = sent ?? fromQuery(rest)
  if (sent !== undefined) auditRequestObject(rest.request, given)
  refuseOptions('DeleteOptions', problemsOf(given))
  const { dryRun = [], preconditions, propagationPolicy, orphanDependents } = given as Fields & Partial<Propagation>
  const { uid, resourceVersion } = (preconditions ?? {}) as Readonly<Record<'uid' | 'resourceVersion', string | null | undefined>>
  return {
    isDryRun: (dryRun as readonly unknown[]).length > 0,
    // Null is what is not asked for, as in all options.
    uid: uid ?? undefined,
    resourceVersion: resourceVersion ?? undefined,
    propagationPolicy,
    orphanDependents,
  }
}

/**
 * @see kubernetes/apimachinery pkg/apis/meta/v1/conversion.go
 * Convert_url_Values_To_v1_DeleteOptions
 */
function fromQuery(rest: RestRequest): Fields {
  const orphan = flag(rest, 'orphanDependents')
  const [policy] = rest.queries('propagationPolicy')
  return {
    dryRun: rest.queries('dryRun'),
    ...(policy !== undefined && { propagationPolicy: policy }),
    ...(orphan !== undefined && { orphanDependents: orphan }),
    gracePeriodSeconds: wholeNumber(rest, 'gracePeriodSeconds'),
    preconditions: { uid: rest.query('uid') || null, resourceVersion: rest.query('resourceVersion') || null },
  }
}

/**
 * The options in the body, which clients of compiled kinds send as protocol buffers; undefined: it
 * is empty.
 */
async function readOptions({ request, world: { bodyMax } }: RestRequest): Promise<Fields | undefined> {
  if (contentTypeOf(request) === PROTOBUF_TYPE) {
    const body = await readBytes(request, bodyMax)
    return body.length === 0 ? undefined : optionsIn(readProtobufObject(body, DELETE_OPTIONS))
  }
  const text = await readBody(request, bodyMax)
  return text === '' ? undefined : optionsIn((await readValue(text, isYaml(request), UNREADABLE, () => '')).value)
}

function optionsIn(value: unknown): Fields {
  if (value === null) return {}
  if (!isFields(value)) throw unfit()
  const options = Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null))
  checkKind(options)
  const { dryRun = [], preconditions = {}, gracePeriodSeconds = 0, propagationPolicy, orphanDependents = false } = options
  const isText = (given: unknown): boolean => given === undefined || given === null || typeof given === 'string'
  if (
    !(Array.isArray(dryRun) && dryRun.every((each) => typeof each === 'string')) ||
    !(isFields(preconditions) && isText(preconditions['uid']) && isText(preconditions['resourceVersion'])) ||
    !Number.isSafeInteger(gracePeriodSeconds) ||
    !isText(propagationPolicy) ||
    typeof orphanDependents !== 'boolean'
  )
    throw unfit()
  return options
}

const UNREADABLE = "couldn't get version/kind; json parse error: "
const META_VERSION = 'meta.k8s.io/v1'

const unfit = () => badRequest('json: cannot unmarshal the body into Go value of type v1.DeleteOptions')

/**
 * Only options are taken for options: an object that came here by mistake deletes nothing. Their
 * version may be that of any group, as upstream.
 */
function checkKind({ kind = '', apiVersion = '' }: Fields): void {
  for (const [name, given] of Object.entries({ apiVersion, kind }))
    if (typeof given !== 'string')
      throw badRequest(`${UNREADABLE}json: cannot unmarshal ${typeof given} into Go struct field .${name} of type string`)
  if (String(apiVersion).split('/').length > 2) throw badRequest(`unexpected GroupVersion string: ${String(apiVersion)}`)
  if (kind === '' || kind === 'DeleteOptions') return
  const version = apiVersion === '' ? META_VERSION : String(apiVersion)
  throw badRequest(`no kind ${goQuote(String(kind))} is registered for version ${goQuote(version)}`)
}

function problemsOf({ dryRun = [], propagationPolicy, orphanDependents }: Fields): readonly FieldError[] {
  const errors: FieldError[] = []
  if (propagationPolicy !== undefined && orphanDependents !== undefined)
    errors.push(fieldErrors.invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'))
  else if (propagationPolicy !== undefined && !POLICIES.has(propagationPolicy))
    errors.push(fieldErrors.notSupported('propagationPolicy', propagationPolicy, [...POLICIES, 'nil']))
  return [...errors, ...dryRunErrors(dryRun as readonly string[])]
}
