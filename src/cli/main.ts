#!/usr/bin/env node
import { processFacts } from '../platform.ts'
import { runCli } from './cli.ts'

// A reader that has seen enough (`quiesce report FILE | head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
})

const code = await runCli({
  args: process.argv.slice(2),
  env: process.env,
  facts: processFacts(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  serve: async (settings, host) => (await import('./serve.ts')).serve(settings, host),
})
if (code !== undefined) process.exitCode = code
