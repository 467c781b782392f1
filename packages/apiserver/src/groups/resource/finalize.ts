import { type ApiObject, isFields } from '../api-object.ts'

/**
 * The finalizers in the spec of an object whose kind has the subresource `finalize`: what has still
 * to be done before it is gone.
 * @see kubernetes/api core/v1/types.go NamespaceSpec
 */
export function specFinalizers({ spec }: ApiObject): readonly unknown[] {
  const finalizers = isFields(spec) ? spec['finalizers'] : undefined
  return Array.isArray(finalizers) ? finalizers : []
}

/** Has an object the finalizers of another one in its spec. */
export function takeSpecFinalizers(object: ApiObject, from: ApiObject): void {
  const { finalizers: _, ...spec } = isFields(object['spec']) ? object['spec'] : {}
  const finalizers = specFinalizers(from)
  object['spec'] = finalizers.length === 0 ? spec : { ...spec, finalizers }
}
