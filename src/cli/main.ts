#!/usr/bin/env node
import { stopSignalsDefault } from '../options/rows/stop-signals.ts'
import { onStopSignal } from '../process/os-signals.ts'

const command = process.argv[2] ?? ''
const isServing = ['serve', 'run', 'apiserver'].includes(command)
/** The commands that import a module of the user's. */
const IMPORTS = ['check', 'plan', 'diagram', 'run', 'apiserver']

// First of all, and so all else is loaded later: a stop signal that comes while modules load must
// stop the server in order, although there is none yet. Node's default is to die of it. Commands
// that serve nothing have nothing to end in order.
const stop = new AbortController()
const latch =
  isServing || command === 'inspect'
    ? onStopSignal(process, stopSignalsDefault(process.platform), (signal) => stop.abort(new Error(`${signal} before the server ran`)))
    : { [Symbol.dispose]: () => {} }

// A watcher asks by a message, which waits for its reader.
const onMessage = (message: unknown): void => {
  if (message === 'shutdown') stop.abort(new Error('stopped before the server ran'))
}
if (command === 'run' && process.channel) process.on('message', onMessage)
const release = (): void => {
  latch[Symbol.dispose]()
  process.off('message', onMessage)
}

process.stdout.once('error', (error: NodeJS.ErrnoException) => {
  // Every further line would say the same.
  process.stdout.on('error', () => {})
  // A reader that has seen enough (`quiesce report FILE | head`) is no failure.
  if (error.code === 'EPIPE') return
  process.stderr.write(`quiesce: standard output: ${error.message}\n`)
  // What serves has an exit code of its own, which the output must not hide. What prints has failed
  // in all it had to do.
  if (!isServing) process.exitCode = 4
})
// There is nowhere left to say it, and no reason to end a server.
process.stderr.on('error', () => {})

try {
  const [{ runCli }, { processFacts }] = await Promise.all([import('./cli.ts'), import('../platforms/platforms.ts')])
  const code = await runCli({
    args: process.argv.slice(2),
    env: process.env,
    facts: processFacts(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    earlyStop: stop.signal,
    serve: async (settings, host) => (await import('./serve.ts')).serveExample(settings, host, release),
    run: async (settings, host) =>
      settings.watch
        ? (await import('./watch/watch.ts')).watchApp(settings.app, host, release)
        : (await import('./run.ts')).runApp(settings, host, release),
    apiserver: async (settings, host) => (await import('./apiserver.ts')).serveApi(settings, host, release),
  })
  // What has been set already is a failure, or the end of a life.
  if (code !== undefined) process.exitCode ??= code
  // What the module of a user's life has opened must not keep a command that is done.
  // It has reported its errors by the next turn.
  if (code !== undefined && IMPORTS.includes(command)) process.stdout.write('', () => setImmediate(() => process.exit()))
} catch (error) {
  process.stderr.write(`quiesce: ${error instanceof Error ? error.stack : String(error)}\n`)
  process.exitCode = 70
}
