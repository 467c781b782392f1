import { type ApiServerConfig, apiGroup, memoryStorage, type Resource, type Storage } from '#apiserver/index.ts'
import { serveApi } from '../support/api-server.ts'
import { widgets } from './widgets.ts'

export const JSON_TYPE = 'application/json'
export const YAML_TYPE = 'application/yaml'
export const MERGE_TYPE = 'application/merge-patch+json'
export const JSON_PATCH_TYPE = 'application/json-patch+json'

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: what was answered is looked at, whatever it is
  readonly [field: string]: any
}

/**
 * A server of one kind in all of its versions, asked with what is sent as it is where it is a text.
 */
export async function serveKind(resource: Resource = widgets, storage: Storage = memoryStorage().resource(), config: ApiServerConfig = {}) {
  const { ask, port } = await serveApi({
    config,
    setUp: (server) => {
      const served = Object.entries(resource.versions).map(([version, each]) => [version, [{ resource: each, storage }]] as const)
      server.installApiGroups(apiGroup({ group: resource.group, versions: Object.fromEntries(served) }))
    },
  })
  const json = async (method: string, path: string, body?: object | string, type: string = JSON_TYPE) => {
    const sent = typeof body === 'object' ? JSON.stringify(body) : body
    const answer = await ask(path, { method, headers: { 'content-type': type }, ...(sent !== undefined && { body: sent }) })
    return { code: answer.status, body: (await answer.json()) as Answer }
  }
  return { json, port, storage }
}
