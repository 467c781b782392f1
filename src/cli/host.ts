import type { Readable } from 'node:stream'
import type { PlatformFacts } from '../platforms/platform.ts'
import { takesColor } from '../platforms/terminal.ts'
import type { ApiServerSettings } from './apiserver-flags.ts'
import type { RunSettings, ServeSettings } from './flags.ts'

/** The world of a command, so that tests can be one. */
export interface CliHost {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly facts: PlatformFacts
  readonly stdin: Readable
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean }
  /** Aborted by a stop signal: to `serve`, by one that comes before its server can hear it. */
  readonly earlyStop: AbortSignal
  /** Serves until stopped; resolves when the life is over. It sets the exit code itself. */
  readonly serve: (settings: ServeSettings, host: CliHost) => Promise<void>
  /** The same for a module of the user's; resolves with an exit code when there was no life. */
  readonly run: (settings: RunSettings, host: CliHost) => Promise<number | undefined>
  /** The same for an API server, with or without a module. */
  readonly apiserver: (settings: ApiServerSettings, host: CliHost) => Promise<number | undefined>
}

/** Colour and width of the terminal, if it is one. */
export const renderOptions = ({
  stdout,
  env,
}: Pick<CliHost, 'stdout' | 'env'>): { readonly color: boolean; readonly columns?: number } => ({
  color: takesColor(stdout, env),
  // A terminal that does not know its width says 0.
  ...(stdout.columns && { columns: stdout.columns }),
})
