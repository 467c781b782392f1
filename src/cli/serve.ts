import { systemHost } from '../actors/host.ts'
import type { BoundAddress } from '../actors/listen-target.ts'
import { systemClock } from '../base/clock.ts'
import { createServerOn } from '../create-server.ts'
import { addExampleHooks, createExampleApp, EXAMPLE_OPTIONS } from '../example/app.ts'
import { DEMO_CLIENTS, DEMO_LEAVE_MS, startDemoClients } from '../example/demo.ts'
import { startDrill } from '../example/drill.ts'
import { ServiceRegistry } from '../example/registry.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { stdoutDestination } from '../log/log-destination.ts'
import type { ServerOptions } from '../options/options.ts'
import { isForPeople } from '../platforms/terminal.ts'
import type { ServeSettings } from './flags.ts'
import type { CliHost } from './host.ts'

/**
 * `quiesce serve`: the example application with a whole life around it.
 *
 * @param release lets go of the stop signals, once the server has them
 */
export async function serveExample({ options, logLevel, demo, wording }: ServeSettings, host: CliHost, release: () => void): Promise<void> {
  const registry = new ServiceRegistry()
  const server: Lifecycle = createServerOn(
    systemHost,
    createExampleApp({ registry }),
    {
      ...EXAMPLE_OPTIONS,
      ...options,
      ...withActions(options, () => startDrill(urlOf(server.addresses[0]), systemClock)),
      signal: host.earlyStop,
    },
    { isForAll: true, level: logLevel, wording },
  )
  addExampleHooks(server, { registry }, demo ? DEMO_LEAVE_MS : 0)
  server.signal('Announced').addEventListener('abort', () => void announced(server, demo, isForPeople(options.pretty ?? 'auto', process)))
  const ended = server.run()
  // In the same turn: no signal can come in between.
  release()
  await ended
}

/** Begins the demonstration, and says what there is to try. */
async function announced(server: Lifecycle, demo: boolean, forPeople: boolean): Promise<void> {
  const url = urlOf(server.addresses[0])
  const hasClients = demo && (await startDemoClients(url, systemClock))
  // Stopped in the meantime, there is nothing to try any more.
  if (server.signal('StopRequested').aborted) return
  const clients = hasClients ? ['To have something to drain, this server is its own client:', `${DEMO_CLIENTS}.`] : []
  if (forPeople) stdoutDestination().write(whatToTry(url, clients))
  else if (hasClients) server.sayUnrecorded({}, clients.join(' '))
}

/** Below the line that says that it serves; from then on the log is quiet until the end. */
function whatToTry(url: string, clients: readonly string[]): string {
  const curl = url.startsWith('https:') ? 'curl -k' : 'curl'
  const tries = [
    [`${curl} -N '${url}/watch'`, 'a stream, which ends with a last line'],
    [`${curl} '${url}/slow?ms=1500'`, 'a slow request, which is answered'],
    [`kill -TERM ${process.pid}`, 'the end, as a deploy asks for it'],
  ] as const
  const width = Math.max(...tries.map(([command]) => command.length))
  const lines = tries.map(([command, meaning]) => `  ${command.padEnd(width)}  # ${meaning}`)
  return ['', ...clients, ...(clients.length > 0 ? [''] : []), 'Try in another terminal, or press Ctrl-C here:', ...lines, '', ''].join(
    '\n',
  )
}

/**
 * Turns actions on: a person who may look at the example server may also end it, which is what it
 * is for.
 */
function withActions({ inspector }: ServerOptions, drill: () => unknown): Pick<ServerOptions, 'inspector'> {
  if (!inspector) return {}
  return { inspector: { ...(inspector === true ? {} : inspector), actions: true, drill } }
}

/**
 * Where this process reaches a listener of its own: one on all addresses is reached on the loopback
 * one.
 */
const urlOf = (address: BoundAddress | undefined): string =>
  address === undefined ? '' : address.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
