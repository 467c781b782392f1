#!/usr/bin/env node
import { processFacts } from '../platform.ts'
import { runCli } from './cli.ts'

// A reader that has seen enough (`quiesce report FILE | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

runCli({
  args: process.argv.slice(2),
  env: process.env,
  facts: processFacts(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  serve: async (settings, host) => (await import('./serve.ts')).serve(settings, host),
}).then(
  (code) => {
    if (code !== undefined) process.exitCode = code
  },
  (error: unknown) => {
    process.stderr.write(`quiesce: ${error instanceof Error ? error.stack : String(error)}\n`)
    process.exitCode = 70
  },
)
