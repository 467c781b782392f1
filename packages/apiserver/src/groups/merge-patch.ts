import { type Fields, isFields, setField } from './api-object.ts'

/**
 * Applies a JSON merge patch: null takes away, lists are replaced. As upstream, and beyond the RFC,
 * an object in such a list has no field that is null. Nothing of either is changed.
 * @see RFC 7396
 */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (Array.isArray(patch)) return patch.map((each) => mergePatch(undefined, each))
  if (!isFields(patch)) return patch
  const merged: Fields = {}
  if (isFields(target))
    for (const [name, value] of Object.entries(target))
      if (patch[name] !== null || !Object.hasOwn(patch, name)) setField(merged, name, value)
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) continue
    setField(merged, name, mergePatch(Object.hasOwn(merged, name) ? merged[name] : undefined, value))
  }
  return merged
}
