import { systemHost } from '../actors/host.ts'
import type { BoundAddress } from '../actors/listener.ts'
import { apiserverWording } from '../base/apiserver-wording.ts'
import { systemClock } from '../base/clock.ts'
import { createServerOn } from '../create-server.ts'
import { addExampleHooks, createExampleApp, EXAMPLE_OPTIONS } from '../example/app.ts'
import { startDrill } from '../example/drill.ts'
import { ServiceRegistry } from '../example/registry.ts'
import type { Lifecycle } from '../lifecycle/lifecycle.ts'
import { stdoutDestination } from '../log/log-destination.ts'
import type { ServerOptions } from '../options/options.ts'
import { isForPeople } from '../platforms/terminal.ts'
import type { CliHost } from './cli.ts'
import type { ServeSettings } from './flags.ts'

/**
 * `quiesce serve`: the example application with a whole life around it.
 *
 * @param release lets go of the stop signals, once the server has them
 */
export async function serveExample({ options, logLevel, wording }: ServeSettings, host: CliHost, release: () => void): Promise<void> {
  const registry = new ServiceRegistry()
  const server: Lifecycle = createServerOn(
    systemHost,
    createExampleApp({ registry }),
    {
      ...EXAMPLE_OPTIONS,
      wording: apiserverWording,
      ...options,
      ...withActions(options, () => startDrill(urlOf(server.addresses[0]), systemClock)),
      signal: host.earlyStop,
    },
    { isForAll: true, level: logLevel, wording },
  )
  addExampleHooks(server, { registry })
  if (isForPeople(options.pretty ?? 'auto', process)) sayWhatToTry(server)
  const ended = server.run()
  // In the same turn: no signal can come in between.
  release()
  await ended
}

/** Below the line that says that it serves; from then on the log is quiet until the end. */
function sayWhatToTry(server: Lifecycle): void {
  server.events$.subscribe((event) => {
    if (event.type !== 'signal' || event.name !== 'Announced') return
    const url = urlOf(server.addresses[0])
    const curl = url.startsWith('https:') ? 'curl -k' : 'curl'
    stdoutDestination().write(
      `\nTry it in another terminal, then press Ctrl-C here:\n  ${curl} -N '${url}/watch'\n  ${curl} '${url}/slow?ms=1500'\n\n`,
    )
  })
}

/** All who may look at the example server may also end it: that is what it is for. */
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
