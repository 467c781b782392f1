#!/usr/bin/env node
import { apiServerProgram } from './api-server-program.ts'
import { runProgram } from './program.ts'

const command = process.argv[2] ?? ''
const program = command === 'apiserver' ? apiServerProgram() : undefined

if (program !== undefined) {
  process.argv.splice(2, 1)
  await import(program)
} else
  await runProgram({
    name: 'quiesce',
    serves: ['serve', 'run'].includes(command),
    waits: command === 'inspect',
    imports: ['check', 'plan', 'diagram', 'run'].includes(command),
    run: async (host, release) =>
      (await import('./cli.ts')).runCli({
        ...host,
        serve: async (settings, world) => (await import('./serve.ts')).serveExample(settings, world, release),
        run: async (settings, world) =>
          settings.watch
            ? (await import('./watch/watch.ts')).watchApp(settings.app, world, release)
            : (await import('./run.ts')).runApp(settings, world, release),
      }),
  })
