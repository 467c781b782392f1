import type { Host } from '../actors/host.ts'
import { Listener } from '../actors/listener.ts'
import { PLAIN_TEXT, respond } from '../http/respond.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import type { AdminAnswer } from './lifecycle.ts'

const NOT_FOUND = {
  status: 404,
  headers: PLAIN_TEXT,
  body: '404 page not found\n',
}

/**
 * Health and metrics on a listener of their own, outside the drain; what neither answers is not
 * there.
 */
export async function openAdminListener(
  host: Host,
  traffic: Traffic,
  target: { readonly port: number; readonly host: string },
  answerMetrics: AdminAnswer,
): Promise<Listener> {
  const server = await host.servers.http({}, (request, response) => {
    if (!answerMetrics(request, response)) respond(response, NOT_FOUND)
  })
  traffic.takeOverOwn(server, { admin: true })
  return new Listener(server, target, 'admin')
}
