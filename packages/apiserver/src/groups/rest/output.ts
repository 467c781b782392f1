import { auditResponseObject } from '../../audit/request-audit.ts'
import { respondCompressed } from '../../encoding/compress.ts'
import { prettyJson } from '../../encoding/json.ts'
import { negotiate, type Representation } from '../../encoding/negotiate.ts'
import { OBJECT_TYPES, wantsToRead } from '../../encoding/write-object.ts'
import { badRequest, notAcceptable } from '../../status-errors.ts'
import type { ApiObject } from '../api-object.ts'
import type { RestRequest } from './rest-request.ts'
import { columnsOf, type IncludeObject, META_V1, partial, tableRow } from './table.ts'

/** A list as it is sent. */
export interface ObjectList {
  readonly kind: string
  readonly apiVersion: string
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string; readonly remainingItemCount?: number }
  readonly items: readonly ApiObject[]
}

/** The form in which a client wants what it asks for. */
export interface OutputForm {
  readonly type: string
  readonly encode: (value: unknown) => string
  readonly form: 'whole' | 'table' | 'metadata'
  /** The version of the form. */
  readonly apiVersion: string
  readonly include: IncludeObject
}

interface Offered extends Representation {
  readonly encode: (value: unknown) => string
  readonly form: OutputForm['form']
  readonly apiVersion: string
}

/** What there is of one object, of a list, and of a stream, which is JSON alone. */
const OF_ONE = offered('PartialObjectMetadata')
const OF_LIST = offered('PartialObjectMetadataList')
const OF_STREAM = OF_ONE.filter(({ isStreamed }) => isStreamed === true)
const OFFERED = { one: OF_ONE, list: OF_LIST, stream: OF_STREAM }

function offered(metadataKind: string): readonly Offered[] {
  const metas = ['v1', 'v1beta1'].map((version) => ({ version, apiVersion: `meta.k8s.io/${version}` }))
  return OBJECT_TYPES.flatMap((type): readonly Offered[] => [
    { ...type, form: 'whole', apiVersion: '' },
    ...metas.flatMap(({ version, apiVersion }): readonly Offered[] => [
      { ...type, as: `g=meta.k8s.io;v=${version};as=Table`, form: 'table', apiVersion },
      { ...type, as: `g=meta.k8s.io;v=${version};as=${metadataKind}`, form: 'metadata', apiVersion },
    ]),
  ])
}

const INCLUDES: ReadonlySet<string> = new Set(['None', 'Metadata', 'Object'])

/**
 * @throws StatusError 406 when there is no form that the client takes, 400 for a wrong
 * `includeObject`
 */
export function negotiateOutput(rest: RestRequest, of: 'one' | 'list' | 'stream'): OutputForm {
  const chosen = negotiate(rest.request, OFFERED[of])
  if (chosen === undefined) throw notAcceptable(of === 'stream' ? ['application/json;stream=watch'] : OBJECT_TYPES.map(({ type }) => type))
  const { type, encode, form, apiVersion } = chosen.form
  const isRead = type === 'application/json' && of !== 'stream' && (chosen.isForPeople || wantsToRead(rest.request))
  const include = form === 'table' ? rest.query('includeObject') || 'Metadata' : 'Metadata'
  if (!INCLUDES.has(include)) throw badRequest(`unrecognized includeObject value: "${include}"`)
  return { type, encode: isRead ? prettyJson : encode, form, apiVersion, include: include as IncludeObject }
}

/** One object in a form; of a stream of tables only the first has its columns. */
export function objectAs(rest: RestRequest, output: OutputForm, object: ApiObject, hasColumns = true): object {
  if (output.form === 'whole') return object
  if (output.form === 'metadata') return partial(object, output.apiVersion)
  const { resourceVersion } = object.metadata
  return table(rest, output, { ...(resourceVersion !== undefined && { resourceVersion }) }, [object], hasColumns)
}

export function listAs(rest: RestRequest, output: OutputForm, list: ObjectList): object {
  if (output.form === 'whole') return list
  if (output.form === 'table') return table(rest, output, list.metadata, list.items, true)
  const items = list.items.map((each) => partial(each, META_V1))
  return { kind: 'PartialObjectMetadataList', apiVersion: output.apiVersion, metadata: list.metadata, items }
}

function table(rest: RestRequest, output: OutputForm, metadata: object, objects: readonly ApiObject[], hasColumns: boolean): object {
  const options = { apiVersion: META_V1, include: output.include, now: rest.world.clock.wall() }
  return {
    kind: 'Table',
    apiVersion: output.apiVersion,
    metadata,
    columnDefinitions: hasColumns ? columnsOf(rest.resource) : null,
    rows: objects.length === 0 ? null : objects.map((each) => tableRow(rest.resource, each, options)),
  }
}

/** The answer to a request that was done. */
export function send(rest: RestRequest, { type, encode }: OutputForm, status: number, value: object): void | Promise<void> {
  auditResponseObject(rest.request, value)
  return respondCompressed(rest.request, rest.response, { status, headers: { 'Content-Type': type }, body: encode(value) })
}
