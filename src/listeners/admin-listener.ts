import type { RequestListener } from 'node:http'
import type { Host } from '../actors/host.ts'
import { Listener } from '../actors/listener.ts'
import type { Traffic } from '../http/traffic/traffic.ts'
import type { AdminSources } from '../routes/admin-routes.ts'

/** A listener outside the drain that serves endpoints of ours. */
export interface AdminListener {
  readonly listener: Listener
  readonly answer: RequestListener
}

/**
 * Health and metrics on a listener of their own. What answers is loaded with it: most programs have
 * none.
 */
export async function openAdminListener(
  host: Host,
  traffic: Traffic,
  target: { readonly port: number; readonly host: string },
  sources: AdminSources,
): Promise<AdminListener> {
  const [{ adminApp }, { nodeListener }] = await Promise.all([import('../routes/admin-routes.ts'), import('../routes/node-listener.ts')])
  const answer = nodeListener(adminApp(sources))
  const server = await host.servers.http({}, answer)
  traffic.takeOverOwn(server, { admin: true })
  return { listener: new Listener(server, { ...target, option: 'admin' }, 'admin'), answer }
}
