import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { QuiesceError, toError } from '../base/errors.ts'
import type { Recording } from '../inspector/recording.ts'
import { PageServer } from '../inspector/server/page-server.ts'
import type { ExitCode } from '../machines/exit-codes.ts'
import { firstLine } from './first-line.ts'
import type { CliHost } from './host.ts'
import { INSPECT_HOST, INSPECT_OPTIONS } from './inspect-flags.ts'
import { readRecording, unreadable } from './read-recording.ts'
import { readText } from './read-text.ts'
import { readOptions } from './settings.ts'

/**
 * Shows a recording in the inspector's page until it is stopped.
 * @throws QuiesceError for arguments, files and ports that cannot be used
 */
export async function inspectCommand(host: CliHost, args: readonly string[]): Promise<ExitCode> {
  const {
    options: { port, noOpen },
    operands: [path],
  } = readOptions('quiesce inspect', INSPECT_OPTIONS, args, 1)
  if (path === undefined || path === '')
    throw new QuiesceError('ERR_OPTION_INVALID', 'inspect: no file was given, allowed: a report, a journal or a counter-example')
  const recording = await recordingOf(path, host.earlyStop)
  if (!recording) return 0
  const url = await serve(recording, port, host.earlyStop)
  host.stdout.write(`${path} is shown on ${url} until Ctrl-C\n`)
  if (host.stdout.isTTY && !noOpen) openBrowser(url)
  if (!host.earlyStop.aborted) await once(host.earlyStop, 'abort')
  return 0
}

/** undefined when it is stopped before it has read the file: a pipe may never end. */
async function recordingOf(path: string, stop: AbortSignal): Promise<Recording | undefined> {
  try {
    // A journal whose process was killed ends anywhere.
    const content = await readText(path, stop, true).catch((error: unknown) => Promise.reject(unreadable(error)))
    return readRecording(content)
  } catch (thrown) {
    if (stop.aborted) return undefined
    throw new QuiesceError('ERR_JOURNAL_READ', `${path}: ${firstLine(toError(thrown).message)}`, { path }, thrown)
  }
}

/** Resolves with the URL when it listens. */
async function serve(recording: Recording, port: number, stop: AbortSignal): Promise<string> {
  const page = new PageServer(
    {
      journal: recording,
      session: () => ({ mode: 'recording', at: recording.length, canStop: false, canDrill: false }),
      report: () => recording.report,
      composition: () => recording.composition,
      definitionOf: () => undefined,
      actions: {},
    },
    undefined,
  )
  const { server } = page
  server.listen(port, INSPECT_HOST)
  try {
    await once(server, 'listening')
  } catch (thrown) {
    throw new QuiesceError(
      'ERR_LISTEN',
      `--port: got ${port}, allowed: a free port (${firstLine(toError(thrown).message)})`,
      { port },
      thrown,
    )
  }
  stop.addEventListener('abort', () => {
    server.close()
    page.destroyConnections()
  })
  return `http://${INSPECT_HOST}:${(server.address() as AddressInfo).port}/inspector/`
}

/** Opens the URL in a browser; without such a program it is there to read. */
function openBrowser(url: string): void {
  const [command, ...args] =
    process.platform === 'darwin' ? ['open'] : process.platform === 'win32' ? ['cmd', '/c', 'start', ''] : ['xdg-open']
  const child = spawn(command as string, [...args, url], { stdio: 'ignore', detached: true })
  child.once('error', () => {})
  child.unref()
}
