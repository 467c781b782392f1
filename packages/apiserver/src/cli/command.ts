import { type CommandHost, inLongWords, printed, refused, sourcesOf, usable } from './engine-command.ts'
import { readApiServerSettings } from './flags.ts'
import { ownPackage } from './own-package.ts'

/**
 * `quiesce-apiserver`: runs a command line.
 * @param release lets go of the stop signals, once a server has them
 * @returns its exit code, or undefined when the server has set it
 */
export async function apiServerCommand(host: CommandHost, release: () => void): Promise<number | undefined> {
  const args = inLongWords(host.args)
  if (args[0] === 'storage') return usable(host, async () => (await import('./storage.ts')).storageCommand(host, args.slice(1)))
  if (args.includes('--help')) return printed(host, await help())
  if (args.includes('--version')) return printed(host, `${ownPackage().version}\n`)
  return usable(host, async () => {
    const settings = await readApiServerSettings(await sourcesOf(host, args))
    // Stopped before it serves, it has nothing to complain of any more.
    if ('problems' in settings) return host.earlyStop.aborted ? 0 : refused(host, settings.problems)
    if (settings.printed !== undefined) return printed(host, settings.printed)
    return (await import('./serve.ts')).serveApi(settings, host, release)
  })
}

async function help(): Promise<string> {
  const [{ PAGE }, { pageHelp }] = await Promise.all([import('./page.ts'), import('./engine-command.ts')])
  return pageHelp('quiesce-apiserver', PAGE)
}
