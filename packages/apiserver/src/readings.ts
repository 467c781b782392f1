import { unescape as leniently } from 'node:querystring'
import { isDoubtful } from './engine.ts'
import { type RequestInfo, requestInfo } from './request/request-info.ts'

/** The part of a request on its way that its target is read from. */
export interface Targeted {
  /** The target as the server reads it. */
  readonly info: RequestInfo
  readonly request: { readonly method?: string | undefined; readonly url?: string | undefined }
}

const NONE: readonly RequestInfo[] = []

/**
 * What a target asks for besides, when another reader, such as the application behind the server,
 * may take it for another path; nearly always that is nothing (V40).
 */
export function otherReadingsOf({ info, request: { method = 'GET', url = '/' } }: Targeted): readonly RequestInfo[] {
  const target = pathPartOf(url)
  // An escape is left in a path only where another one is none.
  if (!isDoubtful(target) && !info.path.includes('%')) return NONE
  const all = new Map<string, RequestInfo>()
  for (const path of pathsOf(target)) {
    const reading = requestInfo(method, path + url.slice(target.length))
    if (reading.path !== info.path) all.set(reading.path, reading)
  }
  return [...all.values()]
}

function pathPartOf(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}

/**
 * What others make of a target: one that does not decode it; one that decodes what can be decoded;
 * one that resolves it as the URL standard does, and that of what is decoded.
 */
function pathsOf(target: string): readonly string[] {
  const resolved = resolve(target)
  const decoded = leniently(target)
  return [asItIs(target), asItIs(decoded), resolved, resolve(decoded), resolve(leniently(resolved)), resolve(BASE + target)]
}

/** A path that is not decoded, and none of which is a query. */
const asItIs = (path: string): string => path.replaceAll('%', '%25').replaceAll('?', '%3F')

const BASE = 'http://host'

const resolve = (target: string): string => (URL.canParse(target, BASE) ? new URL(target, BASE).pathname : target)
