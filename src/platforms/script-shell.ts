import { readFileSync } from 'node:fs'
import { look, variable } from '../base/look.ts'
import type { PlatformFacts } from './platform.ts'

/** How a process was started, as far as it can be told. */
export interface Started extends Pick<PlatformFacts, 'env' | 'terminal'> {
  readonly ppid: number
  /** The command line of the parent; undefined where it cannot be read. */
  readonly parent: readonly string[] | undefined
}

/** The command line of the parent, where there is /proc. */
export const commandLineOf = (pid: number): readonly string[] | undefined =>
  look(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    ?.split('\0')
    .slice(0, -1)

/**
 * Why a SIGTERM that is sent to those who started this process does not get here, and what to do
 * about it; undefined where it does, or where it cannot be told. Measured with real processes, see
 * the decision on shells of scripts.
 *
 * - npm, npx, pnpm and yarn hand it to the shell that runs their script. A shell that waits for its
 *   command dies of it and hands nothing on; one that has become its command is none.
 * - `node --run` hands it to none.
 * - A shell that is PID 1 takes no notice of it.
 *
 * On a terminal Ctrl-C goes to all of them.
 */
export function whyUnreachableBySignal({ env, terminal, ppid, parent }: Started): string | undefined {
  if (terminal || !parent) return undefined
  const [, flag, script = ''] = parent
  const isShell = flag === '-c'
  const run = variable(env, 'NODE_RUN_SCRIPT_NAME')
  if (run !== undefined && (isShell || parent.includes('--run')))
    return `node --run ${run} does not pass SIGTERM on: one that is sent to it drops every request in flight. Start node with the file itself`
  if (!isShell) return undefined
  const own = variable(env, 'npm_lifecycle_script')
  const name = variable(env, 'npm_config_user_agent')?.split('/', 1)[0] ?? 'npm'
  if (own && script.startsWith(own))
    return `${name} has started this process through a shell, which does not pass SIGTERM on: one that is sent to ${name} drops every request in flight. Start node itself, or write exec before it in the script: "exec ${own}"`
  if (ppid === 1)
    return `PID 1 is a shell, which does not pass SIGTERM on: the container ignores its stop until it is killed, with every request in flight. Write exec before the command, or the command as a list: CMD ["node", "server.js"]`
  return undefined
}
