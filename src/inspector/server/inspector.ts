import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ResolvedInspector } from '../../options/options.ts'
import { isLoopback, newToken } from './access.ts'
import { type PageContent, PageServer } from './page-server.ts'

/** What the inspector knows of a life, and can do to it. */
export interface InspectedLife extends Pick<PageContent, 'journal' | 'report' | 'composition' | 'definitionOf'> {
  readonly elapsed: () => number
  readonly stop: () => void
  /** Says where the inspector is, once it listens. The URL may hold its token. */
  readonly sayUrl: (url: string) => void
}

/** The inspector of a life that runs. */
export class Inspector {
  readonly #page: PageServer

  constructor({ host, token: given, actions, drill }: ResolvedInspector, { elapsed, stop, sayUrl, ...content }: InspectedLife) {
    const made = given === undefined && !isLoopback(host) ? newToken() : undefined
    const allowed = actions ? { stop, ...(drill && { drill: () => void runDrill(drill, stop) }) } : {}
    const session = () => ({ mode: 'live' as const, at: elapsed(), canStop: 'stop' in allowed, canDrill: 'drill' in allowed })
    this.#page = new PageServer({ ...content, session, actions: allowed }, given ?? made)
    const { server } = this.#page
    server.once('listening', () => sayUrl(urlOf(server, host, made)))
  }

  get server(): Server {
    return this.#page.server
  }

  /**
   * Closes the page, when the journal has ended: what its readers have not got by then they do not
   * get.
   */
  close(): void {
    this.#page.destroyConnections()
  }
}

/** The shutdown begins when the load is on, and also when it fails to be. */
const runDrill = (drill: () => unknown, stop: () => void): Promise<void> => Promise.resolve().then(drill).then(stop, stop)

function urlOf(server: Server, host: string, token: string | undefined): string {
  const { port } = server.address() as AddressInfo
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}/inspector/${token === undefined ? '' : `?token=${token}`}`
}
