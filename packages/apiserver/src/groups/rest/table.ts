import type { ApiObject, Fields } from '../api-object.ts'
import { isFields } from '../api-object.ts'
import type { Resource } from '../resource/define-resource.ts'

/** What of each object stands beside its row. */
export type IncludeObject = 'None' | 'Metadata' | 'Object'

export const META_V1 = 'meta.k8s.io/v1'

const NAME = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  priority: 0,
}
const CREATED_AT = {
  name: 'Created At',
  type: 'date',
  format: '',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  priority: 0,
}

/** @see kubernetes/apiserver pkg/registry/rest/table.go NewDefaultTableConvertor */
export const columnsOf = ({ columns }: Resource): readonly object[] =>
  columns === undefined
    ? [NAME, CREATED_AT]
    : [
        NAME,
        ...columns.map(({ name, type, format = '', description = '', priority = 0 }) => ({ name, type, format, description, priority })),
      ]

export interface TableOptions {
  readonly apiVersion: string
  readonly include: IncludeObject
  /** The time of the wall, for how long ago something was. */
  readonly now: number
}

/** One row for an object. */
export function tableRow(resource: Resource, object: ApiObject, { apiVersion, include, now }: TableOptions): object {
  const { columns } = resource
  const cells =
    columns === undefined
      ? [object.metadata.creationTimestamp ?? null]
      : columns.map(({ type, path }) => cellOf(type, valueAt(object, path), now))
  return {
    cells: [object.metadata.name, ...cells],
    object: include === 'None' ? null : include === 'Object' ? object : partial(object, apiVersion),
  }
}

/** An object without fields of its own. */
export const partial = ({ metadata }: ApiObject, apiVersion: string): object => ({ kind: 'PartialObjectMetadata', apiVersion, metadata })

function valueAt(object: ApiObject, path: string): unknown {
  let value: unknown = object
  for (const name of path.slice(1).split('.')) value = isFields(value) && Object.hasOwn(value, name) ? (value as Fields)[name] : undefined
  return value
}

function cellOf(type: string, value: unknown, now: number): unknown {
  if (value === undefined || value === null) return null
  if (type === 'date') return typeof value === 'string' ? ago(now - Date.parse(value)) : '<invalid>'
  if (type === 'string') return typeof value === 'string' ? value : JSON.stringify(value)
  return type === 'integer' || type === 'number' ? (typeof value === 'number' ? value : null) : typeof value === 'boolean' ? value : null
}

/** @see kubernetes/apimachinery pkg/util/duration/duration.go HumanDuration */
export function ago(ms: number): string {
  const seconds = Math.trunc(ms / 1_000)
  if (Number.isNaN(ms) || seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return two(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.trunc(days / 365)
  return days < 2_920 ? two(years, 'y', days % 365, 'd') : `${years}y`
}

const two = (first: number, of: string, second: number, than: string): string => `${first}${of}${second === 0 ? '' : `${second}${than}`}`
