#!/usr/bin/env node
import { runProgram } from './engine-main.ts'

await runProgram({
  name: 'quiesce-apiserver',
  serves: true,
  imports: true,
  run: async (host, release) => (await import('./command.ts')).apiServerCommand(host, release),
})
